import { type RelayError, relayError } from '#relay/canonical/relay-error.ts'
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

/** Returns the error in the list of messages, or null. */
export function errorInMessages(messages: Member | undefined): RelayError | null {
  if (messages === undefined) return relayError('missing_parameter', { param: 'messages' })
  if (messages.kind !== 'array' || messages.length === 0 || !messages.isAllObjects) {
    return relayError('invalid_parameter', { param: 'messages' })
  }
  if (messages.ambiguity !== null) {
    const { path, other } = messages.ambiguity
    return ambiguousKey(`messages${path}`, other)
  }
  if (messages.misfit === null) return null
  return relayError('invalid_parameter', { param: `messages${messages.misfit}` })
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

export const isNumberOrNull = (body: Buffer, { kind, valueStart, valueEnd }: Member): boolean =>
  kind === 'null' ||
  (kind === 'number' && Number.isFinite(Number(body.toString('latin1', valueStart, valueEnd))))

const textOf = (body: Buffer, { valueStart, valueEnd }: Member): unknown =>
  JSON.parse(body.toString('utf8', valueStart, valueEnd))
