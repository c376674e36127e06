/** A failed request: refused by a rule, failed by HTTP status, or without an answer. */
export class ApiError extends Error {
  /**
   * Stable, for programs: `InsufficientQuota`; `Http404` or `Network` when the server named none.
   */
  readonly code: string
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** The server's `X-Request-Id`; empty when there was no answer. */
  readonly requestId: string
  /** The server's own message when `message` says something else; otherwise empty. */
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
 * The error for a screen that has its own message for a failed action. A refusal shows the server's
 * message; a server failure shows the server's message and request id beside the screen's.
 */
export function failureOf(error: unknown, words: string): Error {
  if (!(error instanceof ApiError) || error.status === 0) return new Error(words)
  if (error.status <= 500) return error
  const { code, status, requestId, retryAfterMs } = error
  const detail = error.detail || error.message
  return new ApiError(words, { code, status, requestId, retryAfterMs, detail })
}
