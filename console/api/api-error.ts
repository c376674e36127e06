import type { ErrorEnvelope } from '#read-api/contract/response-envelope.ts'

type InvalidField = NonNullable<ErrorEnvelope['invalid_field']>

export class ApiError extends Error {
  /**
   * The error code of the server. If the server sent no code, the console sets one of these codes:
   * `Http` with the status (such as `Http404`), `Refused` for a response with a 2xx status that
   * reports a failure, `Incomplete` for a stream that ends early, or `Network` if there was no
   * response.
   */
  readonly code: string
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number
  /** The `X-Request-Id` of the response, or an empty text if there was no response. */
  readonly requestId: string
  /**
   * The server's message, or an empty text if the server sent none or `message` already contains
   * it.
   */
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
 * Returns the error to show for a failed request. An error from a response with a status up to 500
 * is returned unchanged. Any other error is replaced by an error with the text `message`. If there
 * was a response, `detail` of this new error is the server's message.
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
 * Reports whether to repeat a failed query for an object. A query is repeated at most twice,
 * because the error may be temporary. A query is not repeated after a 404, because an object that
 * does not exist will not appear later.
 */
export const retryUnlessMissing = (count: number, failure: Error): boolean =>
  count < 2 && !isNotFound(failure)

/**
 * Returns the field of the request that the server rejected, or null if the error does not belong
 * to a field.
 */
export const invalidFieldOf = (error: unknown): InvalidField | null =>
  error instanceof ApiError ? error.invalidField : null

const CONSOLE_CODE = /^(?:Http\d{3}|Refused|Incomplete|Network|unexpected)$/

/** Returns the code if it is the server's. Returns an empty text if the console has set it. */
export const serverCode = (code: string): string => (CONSOLE_CODE.test(code) ? '' : code)
