import { parsedObject } from '../canonical/json-values.ts'
import { isMembers } from './read-common-request-members.ts'
import { scanObject } from './scan-request-object.ts'

/**
 * Why the body of an answer with status 200 is not the answer that was requested. `no-image` means
 * that the answer has the expected format, but contains no image. `blocked` means that the provider
 * refuses to make an image.
 */
export type AnswerFault = 'format' | 'error-event' | 'no-image' | 'blocked'

const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const ERROR = Buffer.from('"error"')

/**
 * Returns a function that checks the body of an answer with status 200. A valid answer is a JSON
 * object that has at least one of `members` with a value other than null. The function returns null
 * for a valid answer, and `error-event` for an object with a member `error`. It returns `format`
 * for any other body, such as an error in a vendor's own format.
 */
export function answerCheck(...members: readonly string[]) {
  const keys = members.map((member) => Buffer.from(JSON.stringify(member)))
  return (body: Buffer): AnswerFault | null => errorOfAnswer(body, keys)
}

/**
 * Reports whether a body that begins like a JSON object is invalid. Invalid JSON can't be rendered
 * as a stream, and a caller can't read it either.
 */
export function isInvalidJsonObject(body: Buffer): boolean {
  if (!OBJECT_START.test(body.toString('latin1', 0, START_BYTES))) return false
  // The scanner reads long texts faster than a parser. Because the scanner also refuses some valid
  // JSON, such as objects with duplicate names, the parser decides about a refused body.
  return !isMembers(scanObject(body)) && parsedObject(body) === null
}

const OBJECT_START = /^\s*\{/
const START_BYTES = 64

function errorOfAnswer(body: Buffer, members: readonly Buffer[]): AnswerFault | null {
  let first = 0
  let last = body.length - 1
  while ((body[first] ?? 33) <= 32) first += 1
  while ((body[last] ?? 33) <= 32) last -= 1
  if (body[first] !== OPEN_BRACE || body[last] !== CLOSE_BRACE) return 'format'
  if (members.some((member) => hasValue(body, member))) return null
  return body.includes(ERROR) ? 'error-event' : 'format'
}

const NULL_VALUE = /^\s*:\s*null\b/
const NULL_BYTES_MAX = 16

function hasValue(body: Buffer, member: Buffer): boolean {
  const at = body.indexOf(member)
  if (at < 0) return false
  const start = at + member.length
  return !NULL_VALUE.test(body.toString('latin1', start, start + NULL_BYTES_MAX))
}
