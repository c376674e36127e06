/** Thrown when the server refuses a request or fails, and when there is no response. */
export class ApiError extends Error {
  /**
   * A stable error code such as `InsufficientQuota`. If the server sent no code, it is `Http` and
   * the status (such as `Http404`). Without a response, it is `Network`.
   */
  readonly code: string
  /** The HTTP status, or 0 if there was no response. */
  readonly status: number
  /** The server's `X-Request-Id`. The text is empty if there was no response. */
  readonly requestId: string
  /**
   * The server's message. The text is empty if `message` already contains it or if the server sent
   * no message.
   */
  readonly detail: string
  /** The value of `Retry-After` in milliseconds. */
  readonly retryAfterMs: number | null

  constructor(
    message: string,
    details: {
      code: string
      status: number
      requestId?: string
      detail?: string
      retryAfterMs?: number | null
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
  }
}

/**
 * Returns an `ApiError` unchanged. Any other error is replaced by an error with the message
 * `words`.
 */
export function failureOf(error: unknown, words: string): Error {
  if (!(error instanceof ApiError) || error.status === 0) return new Error(words)
  if (error.status <= 500) return error
  const { code, status, requestId, retryAfterMs } = error
  const detail = error.detail || error.message
  return new ApiError(words, { code, status, requestId, retryAfterMs, detail })
}

export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 404
