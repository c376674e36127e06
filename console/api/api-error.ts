import type { ErrorEnvelope } from '#read-api/contract/response-envelope.ts'

type InvalidField = NonNullable<ErrorEnvelope['invalid_field']>

export class ApiError extends Error {
  /** The server's error code, `Http404` for a 404 without a code, or `Network`. */
  readonly code: string
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number
  /** The `X-Request-Id` of the response, or an empty text if there was no response. */
  readonly requestId: string
  /** The server's message, or an empty text if `message` already contains it. */
  readonly detail: string
  readonly retryAfterMs: number | null
  readonly invalidField: InvalidField | null

  constructor(
    message: string,
    details: {
      code: string
      status: number
      requestId?: string
      detail?: string
      retryAfterMs?: number | null
      invalidField?: InvalidField | undefined
    },
  ) {
    super(message)
    this.name = 'ApiError'
    this.code = details.code
    this.status = details.status
    const detail = details.detail ?? ''
    this.detail = message.includes(detail) ? '' : detail
    this.requestId = details.requestId ?? ''
    this.retryAfterMs = details.retryAfterMs ?? null
    this.invalidField = details.invalidField ?? null
  }
}

/**
 * Gives an error a message for the user. An `ApiError` is returned unchanged, because its message
 * is already translated. Any other error becomes an `Error` with the text `message`.
 */
export function errorWithMessage(error: unknown, message: string): Error {
  if (!(error instanceof ApiError) || error.status === 0) return new Error(message)
  if (error.status <= 500) return error
  const { code, status, requestId, retryAfterMs } = error
  const detail = error.detail || error.message
  return new ApiError(message, { code, status, requestId, retryAfterMs, detail })
}

export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 404

/**
 * Decides whether a query of one object is retried. It is not retried if the server answers 404,
 * because a missing object does not appear later. Other failures may pass.
 */
export const retryUnlessMissing = (count: number, failure: Error): boolean =>
  count < 2 && !isNotFound(failure)

/**
 * Returns the field that the server rejects in a request, or null if the error is about no field.
 */
export const invalidFieldOf = (error: unknown): InvalidField | null =>
  error instanceof ApiError ? error.invalidField : null
