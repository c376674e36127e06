/** Allows at most `max` requests in any window of `periodMs`. */
export type RateClaim = {
  readonly kind: 'rate'
  readonly key: string
  readonly max: number
  readonly periodMs: number
  /**
   * True if a request is no longer counted after its permit was released as refunded. With this
   * setting, a limit can count only successes or only failed tries.
   */
  readonly isRefundable: boolean
}

/** Allows at most `max` permits that are acquired and not yet released. */
export type PermitsClaim = { readonly kind: 'permits'; readonly key: string; readonly max: number }

/**
 * Allows at most `max` tokens in any minute. `estimate` is reserved when a permit is acquired, and
 * corrected when the permit is released. A request for more than `max` tokens is allowed when the
 * window is empty, because waiting would never help.
 */
export type TokensClaim = {
  readonly kind: 'tokens'
  readonly key: string
  readonly max: number
  readonly estimate: number
}

/**
 * Makes tries wait. After `freeTries`, the wait doubles with each further try, from one second up
 * to `delayMsMax`. The count of tries restarts after a permit is refunded, or after `forgetMs`
 * without a try.
 */
export type BackoffClaim = {
  readonly kind: 'backoff'
  readonly key: string
  readonly freeTries: number
  readonly delayMsMax: number
  readonly forgetMs: number
}

/**
 * A limit that a request must respect. `key` identifies the limit among all limits of its kind.
 * Limits are at least 1.
 */
export type Claim = RateClaim | PermitsClaim | TokensClaim | BackoffClaim

export type PermitEnd = {
  readonly isRefunded: boolean
  /** The number of tokens that were used. If the number is missing, the estimate stays reserved. */
  readonly tokens?: number
}

/**
 * The permission for one request. It is released once, when the request ends. Further calls of
 * `release` do nothing.
 */
export type Permit = { readonly release: (end: PermitEnd) => void }

/** The result for a rejected request, which was not counted by any limit. */
export type Full = {
  /** The index of the first claim whose limit is reached. */
  readonly full: number
  /**
   * The milliseconds until all claims may be available. For a limit on concurrent permits, the time
   * is unknown and one second is returned.
   */
  readonly waitMs: number
}

/**
 * Decides whether a request may begin. Either all of its claims are granted or none are. The
 * decision is atomic: of fifty simultaneous requests, a limit of ten admits ten. Limits never
 * decide about money.
 */
export interface Limits {
  /**
   * Acquires a permit, or reports which limit is reached. `owner` (such as `user:7`) is the user or
   * client whose requests are limited. All counts of one owner are stored together. The result is
   * synchronous if the counts are in this process. The method never rejects.
   */
  enter(owner: string, claims: readonly Claim[]): Permit | Full | Promise<Permit | Full>
  /**
   * Returns true while the counts should be shared between processes but only this process keeps
   * them, for example because Redis is unavailable.
   */
  isDegraded(): boolean
}

export const TOKENS_PERIOD_MS = 60_000
export const PERMITS_WAIT_MS = 1_000
export const BACKOFF_FIRST_MS = 1_000

export const isFull = (outcome: object): outcome is Full => 'full' in outcome
