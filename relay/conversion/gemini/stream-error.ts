import type { JsonObject } from '#relay/canonical/json-values.ts'

const CODES = new Map([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['RESOURCE_EXHAUSTED', 429],
  ['CANCELLED', 499],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
])
/** The statuses of Google's errors that correspond to the error types of other formats. */
const STATUSES = new Map([
  ['invalid_request_error', 'INVALID_ARGUMENT'],
  ['authentication_error', 'UNAUTHENTICATED'],
  ['permission_error', 'PERMISSION_DENIED'],
  ['not_found_error', 'NOT_FOUND'],
  ['rate_limit_error', 'RESOURCE_EXHAUSTED'],
  ['rate_limit_exceeded', 'RESOURCE_EXHAUSTED'],
  ['insufficient_quota', 'RESOURCE_EXHAUSTED'],
  ['overloaded_error', 'UNAVAILABLE'],
  ['timeout_error', 'DEADLINE_EXCEEDED'],
])

/** Writes an error within a stream. Client libraries recognize it by an HTTP status in `code`. */
export function writeStreamError(type: string, message: string): JsonObject {
  const status = STATUSES.get(type) ?? type
  const code = CODES.get(status)
  return code === undefined
    ? { error: { code: 500, message, status: 'INTERNAL' } }
    : { error: { code, message, status } }
}
