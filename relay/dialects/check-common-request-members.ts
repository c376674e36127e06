import { type RelayError, relayError } from '#relay/canonical/relay-error.ts'
import type { Ambiguity } from './check-nested-json-members.ts'
import { ambiguousKey } from './invalid-json-error.ts'
import type { InvalidJson, Member } from './scan-request-object.ts'

const MODEL_LENGTH_MAX = 256
/**
 * A member name that can change an object's prototype when code copies the member. No parameter of
 * the API has this name.
 */
export const RESERVED = '__proto__'

export const isMembers = (outcome: readonly Member[] | InvalidJson): outcome is readonly Member[] =>
  Array.isArray(outcome)

export function modelOf(body: Buffer, member: Member | undefined): string | RelayError {
  if (member === undefined) return relayError('missing_parameter', { param: 'model' })
  const model = member.kind === 'string' ? (textOf(body, member) as string) : ''
  return isModelName(model) ? model : relayError('invalid_parameter', { param: 'model' })
}

export const isModelName = (text: string): boolean =>
  text !== '' && text.length <= MODEL_LENGTH_MAX && !hasControls(text)

function hasControls(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 32 || code === 127) return true
  }
  return false
}

/**
 * Returns the error in the list of messages, or null. `name` is the name of the list. `inParts` is
 * a member of a part with an ambiguous name.
 */
export function errorInMessages(
  messages: Member | undefined,
  inParts: Ambiguity | null = null,
  name = 'messages',
): RelayError | null {
  if (messages === undefined) return relayError('missing_parameter', { param: name })
  if (messages.kind !== 'array' || messages.length === 0 || !messages.isAllObjects) {
    return relayError('invalid_parameter', { param: name })
  }
  const ambiguity = messages.ambiguity ?? inParts
  if (ambiguity !== null) {
    const { path, other } = ambiguity
    return ambiguousKey(`${name}${path}`, other)
  }
  if (messages.misfit === null) return null
  return relayError('invalid_parameter', { param: `${name}${messages.misfit}` })
}

/**
 * Returns the value of an integer member. Returns null if the member is absent or null. Returns
 * undefined if the value is not an integer from `least` to `most`.
 */
export function wholeOf(
  body: Buffer,
  member: Member | undefined,
  least: number,
  most: number,
): number | null | undefined {
  if (member === undefined || member.kind === 'null') return null
  if (member.kind !== 'number') return undefined
  const value = Number(body.toString('latin1', member.valueStart, member.valueEnd))
  return Number.isInteger(value) && value >= least && value <= most ? value : undefined
}

/**
 * Returns the value of a boolean member, or null if the value is not a boolean. An absent or null
 * member is false.
 */
export function flagOf(member: Member | undefined): boolean | null {
  if (member === undefined || member.kind === 'null' || member.kind === 'false') return false
  return member.kind === 'true' ? true : null
}

/**
 * Matches a plain word. Other efforts are not stored, so that events contain
 * no free text of a caller. The provider checks the value.
 */
const EFFORT = /^"[a-z][a-z0-9_-]{0,15}"$/

/** Returns the effort that a member requests; null if it is absent or not a plain word. */
export function effortOf(body: Buffer, member: Member | undefined): string | null {
  if (member?.kind !== 'string' || member.valueEnd - member.valueStart > 18) return null
  const text = body.toString('latin1', member.valueStart, member.valueEnd)
  return EFFORT.test(text) ? text.slice(1, -1) : null
}

export const isNumberOrNull = (body: Buffer, { kind, valueStart, valueEnd }: Member): boolean =>
  kind === 'null' ||
  (kind === 'number' && Number.isFinite(Number(body.toString('latin1', valueStart, valueEnd))))

const textOf = (body: Buffer, { valueStart, valueEnd }: Member): unknown =>
  JSON.parse(body.toString('utf8', valueStart, valueEnd))
