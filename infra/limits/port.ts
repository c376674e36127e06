/** Allows at most `max` requests in any window of `periodMs`. */
export type RateClaim = {
  readonly kind: 'rate'
  readonly key: string
  readonly max: number
  readonly periodMs: number
  /**
   * The number of requests that the claim counts, such as the lines of a batch; 1 if it is missing.
   * More than `max` are never allowed.
   */
  readonly count?: number
  /** True if refunded requests are not counted, so that only successes or only failures count. */
  readonly isRefundable: boolean
}

/** Allows at most `max` permits that are acquired and not yet released. */
export type PermitsClaim = { readonly kind: 'permits'; readonly key: string; readonly max: number }

/**
 * Allows at most `max` tokens in any minute. `estimate` is reserved and later corrected. A request
 * for more than `max` tokens is allowed in an empty window, because waiting would never help.
 */
export type TokensClaim = {
  readonly kind: 'tokens'
  readonly key: string
  readonly max: number
  readonly estimate: number
}

/**
 * After `freeTries`, the wait doubles with each try, from one second up to `delayMsMax`. The count
 * restarts after a refund, or after `forgetMs` without a try.
 */
export type BackoffClaim = {
  readonly kind: 'backoff'
  readonly key: string
  readonly freeTries: number
  readonly delayMsMax: number
  readonly forgetMs: number
}

/** A limit of at least 1 that a request must respect. `key` is unique among limits of its kind. */
export type Claim = RateClaim | PermitsClaim | TokensClaim | BackoffClaim

export type PermitEnd = {
  readonly isRefunded: boolean
  /** The number of tokens that were used. If it is missing, the estimate stays reserved. */
  readonly tokens?: number
}

/** The permission for one request. Further calls of `release` do nothing. */
export type Permit = { readonly release: (end: PermitEnd) => void }

/** The result for a rejected request. No limit has counted this request. */
export type Full = {
  readonly full: number
  /**
   * The milliseconds until the claims may be available. A reached limit of permits counts as one
   * second.
   */
  readonly waitMs: number
}

/**
 * Decides atomically whether a request may begin: either all of its claims are granted or none. Of
 * fifty simultaneous requests, a limit of ten admits ten. Limits never decide about money.
 */
export interface Limits {
  /**
   * Acquires a permit, or reports the limit that is reached. `owner` (such as `user:7`) is the user
   * or client whose counts are stored together. The result is not a promise if the counts are in
   * this process. Never rejects.
   */
  enter(owner: string, claims: readonly Claim[]): Permit | Full | Promise<Permit | Full>
  /**
   * True while this process counts alone although the counts should be shared, for example because
   * Redis is unavailable.
   */
  isDegraded(): boolean
}

export const TOKENS_PERIOD_MS = 60_000
export const PERMITS_WAIT_MS = 1_000
export const BACKOFF_FIRST_MS = 1_000

export const isFull = (outcome: object): outcome is Full => 'full' in outcome
