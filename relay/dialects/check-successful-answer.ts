import {
  type JsonObject,
  numericOf,
  objectOf,
  objectOrEmpty,
  parsedObject,
} from '../canonical/json-values.ts'
import { isVendorError } from '../canonical/read-provider-error-body.ts'
import { isMembers } from './read-common-request-members.ts'
import { scanObject } from './scan-request-object.ts'

/**
 * Why the body of an answer with status 200 is not the answer that was requested. `no-image` means
 * that the answer has the expected format, but contains no image, and `no-result` that it contains
 * no other result, such as a vector. `blocked` means that the provider refuses to make an image.
 */
export type AnswerFault = 'format' | 'error-event' | 'no-image' | 'no-result' | 'blocked'

const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const ERROR = Buffer.from('"error"')

/**
 * Returns a function that checks the body of an answer with status 200, without parsing it. The
 * body counts as valid if its first and last characters are braces, and if it contains, at any
 * depth, one of `members` with a value other than null. The function returns null for a valid body,
 * `error-event` for an error instead (see `faultWithoutResult`), and `format` for any other body.
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

/**
 * An answer with more bytes than this is assumed to have a result, because an empty answer is
 * short.
 */
const EMPTY_ANSWER_BYTES_MAX = 4_096
/** The same limit for an answer that repeats parts of the request, such as its instructions. */
const EMPTY_ECHO_BYTES_MAX = 256 * 1024

/**
 * Reports whether a short answer has an empty list of results, such as embeddings without a vector.
 * `resultsIn` returns the list of results in an answer.
 */
export function lacksResult(
  body: Buffer,
  resultsIn: (answer: JsonObject) => unknown,
  bytesMax = EMPTY_ANSWER_BYTES_MAX,
): boolean {
  if (body.length > bytesMax) return false
  const results = resultsIn(parsedObject(body) ?? {})
  return Array.isArray(results) && results.length === 0
}

/** Reports whether a usage has a count above 0. The provider then charges for the call. */
export const hasCounts = (usage: unknown): boolean =>
  Object.values(objectOrEmpty(usage)).some((count) => numericOf(count) > 0)

type ListCheck = {
  /** The member with the list of results. */
  readonly list: string
  /** A member that takes the place of the list, such as the reason why a prompt was blocked. */
  readonly substitute?: string
  readonly usageIn: (body: Buffer) => unknown
  /** Returns a value other than null for an answer that failed although it has a list. */
  readonly errorOfFailed?: (body: Buffer) => JsonObject | null
  /** True if answers repeat parts of the request. */
  readonly repeatsRequest?: true
}

/**
 * Returns a function that checks an answer like `answerCheck(list, substitute)`. The function
 * returns `no-result` for an answer in which `list` is empty, and `error-event` for an answer that
 * failed, unless the answer reports usage. The provider then charges for it.
 */
export function answerListCheck({
  list,
  substitute = list,
  usageIn,
  errorOfFailed = () => null,
  repeatsRequest,
}: ListCheck) {
  const errorOfMembers = answerCheck(list, substitute)
  const bytesMax = repeatsRequest === true ? EMPTY_ECHO_BYTES_MAX : EMPTY_ANSWER_BYTES_MAX
  // Only a short answer with an empty list is parsed, because most answers have results.
  const emptyList = new RegExp(`"${list}"\\s*:\\s*\\[\\s*\\]`)
  const resultsIn = (answer: JsonObject) => objectOf(answer[substitute]) ?? answer[list]
  const isEmpty = (body: Buffer): boolean =>
    body.length <= bytesMax &&
    emptyList.test(body.toString('latin1')) &&
    lacksResult(body, resultsIn, bytesMax)
  return (body: Buffer): AnswerFault | null => {
    const error = errorOfMembers(body)
    if (error !== null) return error
    const isFailed = errorOfFailed(body) !== null
    const fault = isFailed ? 'error-event' : isEmpty(body) ? 'no-result' : null
    return fault !== null && !hasCounts(usageIn(body)) ? fault : null
  }
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
  return faultWithoutResult(body)
}

/**
 * Returns the fault of an answer that has no result. The fault is `error-event` if the answer
 * contains a member `error`, at any depth, or is an error in a vendor's own format.
 */
export const faultWithoutResult = (body: Buffer): 'error-event' | 'format' =>
  body.includes(ERROR) || isVendorError(shortAnswer(body)) ? 'error-event' : 'format'

/** The maximum length in bytes of an answer that is parsed to find a vendor's own error. */
const VENDOR_ERROR_BYTES_MAX = 64 * 1024

const shortAnswer = (body: Buffer): JsonObject =>
  (body.length > VENDOR_ERROR_BYTES_MAX ? null : parsedObject(body)) ?? {}

const NULL_VALUE = /^\s*:\s*null\b/
const NULL_BYTES_MAX = 16

function hasValue(body: Buffer, member: Buffer): boolean {
  const at = body.indexOf(member)
  if (at < 0) return false
  const start = at + member.length
  return !NULL_VALUE.test(body.toString('latin1', start, start + NULL_BYTES_MAX))
}
