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
   * True if the count of a request can be taken back when the request ends. A limit can thus count
   * only successes or only failures.
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
 * Lets each caller try `freeTries` times without a wait. After these tries, the wait doubles with
 * each try, from one second up to `delayMsMax`. The count restarts after a refund, or after
 * `forgetMs` without a try.
 */
export type BackoffClaim = {
  readonly kind: 'backoff'
  readonly key: string
  readonly freeTries: number
  readonly delayMsMax: number
  readonly forgetMs: number
}

/**
 * A limit that a request must respect. The number that the limit allows must be at least 1. `key`
 * is unique among the limits of one kind.
 */
export type Claim = RateClaim | PermitsClaim | TokensClaim | BackoffClaim

export type PermitEnd = {
  readonly isRefunded: boolean
  /** The number of tokens that were used. If omitted, the estimated tokens stay counted. */
  readonly tokens?: number
}

/**
 * The permission for one request. The caller must call `release` when the request ends. More calls
 * of `release` do nothing.
 */
export type Permit = { readonly release: (end: PermitEnd) => void }

/** The result for a rejected request. No limit has counted this request. */
export type Full = {
  readonly full: number
  /**
   * The milliseconds after which the request might be allowed. This is one second if only limits of
   * permits are reached.
   */
  readonly waitMs: number
}

/**
 * Decides whether a request may begin. Either all claims of the request are granted at once, or
 * none is. Of fifty simultaneous requests, a limit of ten thus admits exactly ten. Limits never
 * decide about money.
 */
export interface Limits {
  /**
   * Acquires a permit, or returns `Full` with the index of the first claim whose limit is reached.
   * The counts of one `owner` (a user or client, such as `user:7`) are stored together. Returns no
   * promise if the counts are in this process. A returned promise never rejects.
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
