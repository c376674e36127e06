import { objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import { applyEdits, type ByteEdit } from '../byte-edits.ts'
import { isMembers } from '../read-common-request-members.ts'
import { type Member, scanObject } from '../scan-request-object.ts'

const KEY = 'modelVersion'
const QUOTED_KEY = Buffer.from(JSON.stringify(KEY))
const DATA = Buffer.from('data:')
const LF = 10
const CR = 13
const OPEN_BRACE = 123

/**
 * Finds a member of the outermost object. NOTE: the JSON is scanned, because a search for the key's
 * bytes could find another member. The arguments of a function call are objects with any keys.
 */
function memberOf(json: Buffer, name: string): Member | undefined {
  const members = scanObject(json)
  return isMembers(members) ? members.find(({ key }) => key === name) : undefined
}

/**
 * Returns the `usageMetadata` of a complete answer (not a stream), or undefined if it has none. The
 * scanner refuses some valid JSON, such as nested arguments of a function call, and a caller can
 * ask a model for them. Such an answer is parsed, because thoughts are counted only in its usage.
 */
export function usageInGeneration(body: Buffer): unknown {
  const members = scanObject(body)
  if (!isMembers(members)) return objectOf(parsedObject(body)?.usageMetadata) ?? undefined
  const member = members.find(({ key }) => key === 'usageMetadata')
  if (member?.kind !== 'object') return undefined
  return JSON.parse(body.toString('utf8', member.valueStart, member.valueEnd))
}

/**
 * Returns the first model name in a complete answer or in events. Returns null if there is none.
 */
export function answeredModel(bytes: Buffer): string | null {
  if (!bytes.includes(QUOTED_KEY)) return null
  for (const { json } of objectsIn(bytes)) {
    const member = memberOf(json, KEY)
    if (member?.kind === 'string') {
      return JSON.parse(json.toString('utf8', member.valueStart, member.valueEnd)) as string
    }
  }
  return null
}

/** Replaces the provider's model name in a complete answer or in complete events by `model`. */
export function withModelVersion(bytes: Buffer, model: string): Buffer {
  if (!bytes.includes(QUOTED_KEY)) return bytes
  const edits: ByteEdit[] = []
  for (const { json, offset } of objectsIn(bytes)) {
    const member = memberOf(json, KEY)
    if (member?.kind !== 'string') continue
    const start = offset + member.valueStart
    edits.push({ start, end: offset + member.valueEnd, text: JSON.stringify(model) })
  }
  return applyEdits(bytes, edits)
}

/** Returns the JSON objects in a complete answer or in events, with their offsets. */
function objectsIn(bytes: Buffer): readonly { readonly json: Buffer; readonly offset: number }[] {
  let first = 0
  while ((bytes[first] ?? 33) <= 32) first += 1
  if (bytes[first] === OPEN_BRACE) return [{ json: bytes, offset: 0 }]
  const objects: { json: Buffer; offset: number }[] = []
  for (let at = bytes.indexOf(DATA); at >= 0; ) {
    const offset = at + DATA.length
    const end = endOfLine(bytes, offset)
    const isAtLineStart = at === 0 || bytes[at - 1] === LF || bytes[at - 1] === CR
    if (isAtLineStart) objects.push({ json: bytes.subarray(offset, end), offset })
    at = bytes.indexOf(DATA, isAtLineStart ? end : offset)
  }
  return objects
}

function endOfLine(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) at += 1
  return at
}
