/** The meaning of a provider's error, independent of any wire format. */
export type ErrorMeaning =
  | 'invalid-request'
  | 'context-length'
  | 'authentication'
  | 'billing'
  | 'permission'
  | 'not-found'
  | 'too-large'
  | 'rate-limit'
  | 'overloaded'
  | 'timeout'
  | 'server'

/**
 * The meanings of error types, codes and statuses in OpenAI's, Anthropic's and Google's formats, as
 * documented by these providers.
 */
const MEANINGS: ReadonlyMap<string, ErrorMeaning> = new Map([
  ['context_length_exceeded', 'context-length'],
  ['invalid_request_error', 'invalid-request'],
  ['INVALID_ARGUMENT', 'invalid-request'],
  ['FAILED_PRECONDITION', 'invalid-request'],
  ['OUT_OF_RANGE', 'invalid-request'],
  ['authentication_error', 'authentication'],
  ['UNAUTHENTICATED', 'authentication'],
  ['billing_error', 'billing'],
  ['insufficient_quota', 'billing'],
  ['permission_error', 'permission'],
  ['PERMISSION_DENIED', 'permission'],
  ['model_not_found', 'not-found'],
  ['not_found_error', 'not-found'],
  ['NOT_FOUND', 'not-found'],
  ['request_too_large', 'too-large'],
  ['rate_limit_exceeded', 'rate-limit'],
  ['rate_limit_error', 'rate-limit'],
  ['requests', 'rate-limit'],
  ['tokens', 'rate-limit'],
  ['RESOURCE_EXHAUSTED', 'rate-limit'],
  ['server_is_overloaded', 'overloaded'],
  ['slow_down', 'overloaded'],
  ['overloaded_error', 'overloaded'],
  ['UNAVAILABLE', 'overloaded'],
  ['timeout_error', 'timeout'],
  ['DEADLINE_EXCEEDED', 'timeout'],
  ['server_error', 'server'],
  ['api_error', 'server'],
  ['INTERNAL', 'server'],
])

const MEANINGS_OF_STATUS: ReadonlyMap<number, ErrorMeaning> = new Map([
  [401, 'authentication'],
  [402, 'billing'],
  [403, 'permission'],
  [404, 'not-found'],
  [408, 'timeout'],
  [413, 'too-large'],
  [429, 'rate-limit'],
  [503, 'overloaded'],
  [504, 'timeout'],
  [529, 'overloaded'],
])

/**
 * Matches messages about an input that is too long. Some providers have no status or code for this
 * error.
 */
const TOO_LONG =
  /prompt is too long|context (?:length|window)|input (?:token count|length)\b.{0,80}\bexceed/i

/** The texts of a provider's error, and the HTTP status of its response. */
type ErrorTexts = {
  readonly type: string | null
  readonly code: string | null
  /** The name of the status in one of Google's errors, such as `INVALID_ARGUMENT`. */
  readonly name: string | null
  readonly message: string | null
  readonly status: number
}

/**
 * Returns what an error means. The first known value decides, in this order: code, type, status
 * name, HTTP status. If this value means a wrong or too large request, a message that matches
 * `TOO_LONG` makes the result `context-length`.
 */
export function meaningOf({ type, code, name, message, status }: ErrorTexts): ErrorMeaning {
  const named = [code, type, name]
    .map((text) => MEANINGS.get(text ?? ''))
    .find((meaning) => meaning !== undefined)
  const ofStatus = MEANINGS_OF_STATUS.get(status)
  const meaning = named ?? ofStatus ?? (status < 500 ? 'invalid-request' : 'server')
  const isInput = meaning === 'invalid-request' || meaning === 'too-large'
  return isInput && TOO_LONG.test(message ?? '') ? 'context-length' : meaning
}
