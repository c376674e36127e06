import { relayError } from '../../canonical/relay-error.ts'
import { rejectParam, TaskRequestError } from '../read-task-request-body.ts'
import { reject } from './video-vendor.ts'

const BYTES_MAX = 32 * 1024 * 1024
/**
 * The maximum number of parts of a form. Parts are counted before they are parsed, because each
 * parsed part takes memory for objects.
 */
const PARTS_MAX = 32
const IMAGE = /^image\/(?:png|jpeg|webp|gif)$/
const BOUNDARY = /;\s*boundary="?([\w'()+,./:=?-]{1,70})"?\s*(?:;|$)/i

export const MULTIPART = /^multipart\/form-data\b/i

export const isMultipart = (type: string): boolean => MULTIPART.test(type)

const invalid = (): never => {
  throw new TaskRequestError(relayError('invalid_parameter', { param: 'Content-Type' }))
}

/**
 * Matches the name of a field. OpenAI's clients write a member of an object as `name[member]`, and
 * each element of a list as `name[]`.
 */
const FIELD = /^([^[\]]+)(?:\[([^[\]]*)\])?$/

/**
 * Converts a multipart form, which OpenAI's clients send, to the JSON body of the same request. A
 * picture becomes a data URL. Throws `TaskRequestError` for a form that can't be read, for a field
 * that occurs twice, and for a field with another kind of brackets. A vendor would otherwise make a
 * video without the member that the field contains.
 */
export async function jsonOfMultipart(bytes: Buffer, type: string): Promise<Buffer> {
  const [, boundary] = BOUNDARY.exec(type) ?? []
  if (boundary === undefined || bytes.length > BYTES_MAX) return invalid()
  if (countParts(bytes, `--${boundary}`) > PARTS_MAX + 1) return invalid()
  const read = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
  const form = await read.formData().catch(invalid)
  const members = new Map<string, FormMember>()
  for (const [name, value] of form) {
    const text = typeof value === 'string' ? value : await pictureOf(name, value)
    if (!addField(members, name, text)) rejectParam(name)
  }
  const entries = [...members].map(([name, member]) => [name, jsonOf(member)])
  return Buffer.from(JSON.stringify(Object.fromEntries(entries)))
}

/** A member of the request: a text, a list of texts or an object whose members are texts. */
type FormMember = string | string[] | Map<string, string>

const jsonOf = (member: FormMember): unknown =>
  member instanceof Map ? Object.fromEntries(member) : member

/** Adds a field. Returns false if its name is invalid or contradicts the name of another field. */
function addField(members: Map<string, FormMember>, field: string, text: string): boolean {
  const [, name, inner] = FIELD.exec(field) ?? []
  if (name === undefined) return false
  const earlier = members.get(name)
  if (inner === undefined) {
    members.set(name, text)
    return earlier === undefined
  }
  if (inner === '') {
    const list = earlier ?? []
    if (!Array.isArray(list)) return false
    members.set(name, [...list, text])
    return true
  }
  const object = earlier ?? new Map<string, string>()
  if (!(object instanceof Map) || object.has(inner)) return false
  members.set(name, object.set(inner, text))
  return true
}

async function pictureOf(name: string, file: File): Promise<string> {
  if (!IMAGE.test(file.type)) return reject(name, ['image/png', 'image/jpeg', 'image/webp'])
  const data = Buffer.from(await file.arrayBuffer())
  return `data:${file.type};base64,${data.toString('base64')}`
}

function countParts(bytes: Buffer, delimiter: string): number {
  let count = 0
  for (let at = bytes.indexOf(delimiter); at >= 0; at = bytes.indexOf(delimiter, at + 1)) {
    count += 1
    if (count > PARTS_MAX + 1) break
  }
  return count
}
