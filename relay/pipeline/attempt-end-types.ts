/** The reasons why an attempt brought no complete and usable answer. */
export type AttemptError =
  | 'status'
  | 'connect'
  | 'timeout'
  | 'cut'
  | 'too-large'
  | 'format'
  /** The answer has the expected format, but contains no image, so the provider charges nothing. */
  | 'no-image'
  /** The answer has the expected format, but contains no result, such as a vector. */
  | 'no-result'
  /** The provider refuses to generate an image from the prompt. */
  | 'blocked'
  /** The model's answer is not usable, and the provider charges for it. */
  | 'model-fault'
  | 'error-event'
  | 'caller-gone'
  | 'draining'
  | 'revoked'
  /** The answer contains a word that the site blocks. */
  | 'screened'
  /**
   * The balance or the token's budget is empty, or can't pay for the larger hold that the stream
   * needs.
   */
  | 'balance-spent'
  /** The stream used up its hold, and the event store could not be reached to raise the hold. */
  | 'store-unavailable'
  /** The provider far exceeded the output limit that the relay sent. */
  | 'over-limit'

/**
 * The end of an attempt: a plain answer, a stream that is complete or has begun for the caller, or
 * a failure.
 */
export type AttemptEnd =
  | { readonly kind: 'plain'; readonly status: number; readonly body: Buffer }
  /**
   * The stream is complete, or it must not be retried: the caller has received bytes of it, or its
   * model failed, for which the provider charges.
   */
  | { readonly kind: 'streamed'; readonly status: number; readonly error: AttemptError | null }
  /** The attempt failed before the caller received any byte. */
  | {
      readonly kind: 'failed'
      readonly status: number | null
      readonly error: AttemptError
      readonly body: Buffer
      readonly retryAfterMs: number
      /** The channel's proxy could not establish a connection. */
      readonly isProxy?: true
      /** The provider received the request and did not refuse it. */
      readonly isDispatched?: true
      /**
       * The provider had begun the stream, so the provider works on the answer and charges for it.
       */
      readonly hasBegun?: true
      /** The stream reported the usage of its answer, so the provider charges for the answer. */
      readonly hasReportedUsage?: true
      /** The answer may be too large only because it repeats the caller's request. */
      readonly isEchoOfRequest?: true
      /**
       * The last members of a plain answer that the provider delivered but that is too large for
       * the caller.
       */
      readonly tail?: Buffer
    }
