/** Allows at most `max` requests in any period of `periodMs` milliseconds. */
export type RateClaim = {
  readonly kind: 'rate'
  readonly key: string
  readonly max: number
  readonly periodMs: number
  /**
   * The number of requests to count, such as the number of lines of a batch. The default is 1. A
   * claim of more than `max` is never granted.
   */
  readonly count?: number
  /**
   * True if a request that has ended can be refunded, so that it no longer counts. A limit can thus
   * count only successes or only failures.
   */
  readonly isRefundable: boolean
}

/** Allows at most `max` permits at a time. A permit counts until it is released. */
export type PermitsClaim = { readonly kind: 'permits'; readonly key: string; readonly max: number }

/**
 * Allows at most `max` tokens in any minute. `estimate` tokens are reserved and later corrected to
 * the actual number. If no tokens are counted in the last minute, a request for more than `max` is
 * allowed, because waiting would never help.
 */
export type TokensClaim = {
  readonly kind: 'tokens'
  readonly key: string
  readonly max: number
  readonly estimate: number
}

/**
 * Lets each caller try `freeTries` times. After these, the wait doubles with each try, from one
 * second up to `delayMsMax`. The count restarts after a refund, or after `forgetMs` without a try.
 */
export type BackoffClaim = {
  readonly kind: 'backoff'
  readonly key: string
  readonly freeTries: number
  readonly delayMsMax: number
  readonly forgetMs: number
}

/**
 * A limit that a request must respect. The number that it allows must be at least 1. `key` is
 * unique among limits of its kind.
 */
export type Claim = RateClaim | PermitsClaim | TokensClaim | BackoffClaim

export type PermitEnd = {
  readonly isRefunded: boolean
  /** The number of tokens that were used. If omitted, the estimated tokens stay counted. */
  readonly tokens?: number
}

/**
 * The permission for one request. `release` must be called when the request ends. Further calls do
 * nothing.
 */
export type Permit = { readonly release: (end: PermitEnd) => void }

/** The result for a rejected request. No limit has counted this request. */
export type Full = {
  readonly full: number
  /**
   * The milliseconds until the request may be allowed. One second if a limit of permits is reached.
   */
  readonly waitMs: number
}

/**
 * Decides whether a request may begin. All of its claims are granted at once or none is, so of
 * fifty simultaneous requests, a limit of ten admits ten. Limits never decide about money.
 */
export interface Limits {
  /**
   * Acquires a permit, or returns `Full` with the limit that is reached. The counts of one `owner`
   * (a user or client, such as `user:7`) are stored together. The result is not a promise if the
   * counts are in this process. Never rejects.
   */
  enter(owner: string, claims: readonly Claim[]): Permit | Full | Promise<Permit | Full>
  /**
   * Reports whether this process counts alone although the counts should be shared, for example
   * because Redis is unavailable.
   */
  isDegraded(): boolean
}

export const TOKENS_PERIOD_MS = 60_000
export const PERMITS_WAIT_MS = 1_000
export const BACKOFF_FIRST_MS = 1_000

export const isFull = (outcome: object): outcome is Full => 'full' in outcome
