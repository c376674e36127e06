/** A call that failed: refused by a rule, by HTTP, or because no answer came. */
export class ApiError extends Error {
  /** Stable, for programs: `InsufficientQuota`; `Http404` or `Network` where none was named. */
  readonly code: string
  /** HTTP status; 0 when no answer came. */
  readonly status: number
  /** The server's `X-Request-Id`, empty when no answer came. */
  readonly requestId: string
  /** The server's own words where `message` says something else; else empty. */
  readonly detail: string
  /** What `Retry-After` asks for, in milliseconds. */
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
 * How a failed act is told by a screen that has words of its own for it: what the server refuses it
 * says itself; where it can't serve, its words and the request id stand beside those of the screen.
 */
export function failureOf(error: unknown, words: string): Error {
  if (!(error instanceof ApiError) || error.status === 0) return new Error(words)
  if (error.status <= 500) return error
  const { code, status, requestId, retryAfterMs } = error
  const detail = error.detail || error.message
  return new ApiError(words, { code, status, requestId, retryAfterMs, detail })
}
