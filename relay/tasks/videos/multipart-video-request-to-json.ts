import { relayError } from '../../canonical/relay-error.ts'
import { TaskRequestError } from '../read-task-request-body.ts'
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
 * Converts a multipart form, which OpenAI's clients send, to the JSON body of the same request. A
 * picture becomes a data URL. Throws `TaskRequestError` for a form that can't be read.
 */
export async function jsonOfMultipart(bytes: Buffer, type: string): Promise<Buffer> {
  const [, boundary] = BOUNDARY.exec(type) ?? []
  if (boundary === undefined || bytes.length > BYTES_MAX) return invalid()
  if (countParts(bytes, `--${boundary}`) > PARTS_MAX + 1) return invalid()
  const read = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
  const form = await read.formData().catch(invalid)
  const members = new Map<string, string>()
  for (const [name, value] of form) {
    if (members.has(name)) reject(name)
    members.set(name, typeof value === 'string' ? value : await pictureOf(name, value))
  }
  return Buffer.from(JSON.stringify(Object.fromEntries(members)))
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
