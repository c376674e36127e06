/** Allows at most `max` acts in any window of `periodMs`. */
export type RateClaim = {
  readonly kind: 'rate'
  readonly key: string
  readonly max: number
  readonly periodMs: number
  /**
   * If true, the act is subtracted when the permit is released as refunded. This counts only
   * successes, or only wrong tries.
   */
  readonly isRefundable: boolean
}

/** Allows at most `max` permits at the same time. */
export type PermitsClaim = { readonly kind: 'seats'; readonly key: string; readonly max: number }

/**
 * Allows at most `max` tokens in any minute: `estimate` is reserved at entry and corrected when the
 * permit is released. A request for more than `max` passes when the window is empty, because
 * waiting would never help.
 */
export type TokensClaim = {
  readonly kind: 'tokens'
  readonly key: string
  readonly max: number
  readonly estimate: number
}

/**
 * After `freeTries`, the wait doubles with each further try, from one second up to `delayMsMax`.
 * The tries are forgotten when a permit is refunded, or after `forgetMs` without a try.
 */
export type BackoffClaim = {
  readonly kind: 'backoff'
  readonly key: string
  readonly freeTries: number
  readonly delayMsMax: number
  readonly forgetMs: number
}

/** One limit of an act. `key` names it among all limits of its kind. Limits are at least 1. */
export type Claim = RateClaim | PermitsClaim | TokensClaim | BackoffClaim

export type PermitEnd = {
  readonly isRefunded: boolean
  /** The number of tokens that was used. Without it, the estimate remains. */
  readonly tokens?: number
}

/** The permit of an act. It is released once, at the end; further releases do nothing. */
export type Permit = { readonly release: (end: PermitEnd) => void }

/** The act is rejected, and nothing was counted. */
export type Full = {
  /** The index of the first claim that is full. */
  readonly full: number
  /**
   * The milliseconds until all claims could have room. For permits it is unknown, and one second is
   * returned.
   */
  readonly waitMs: number
}

/**
 * Decides whether an act may begin. All claims are granted in one step or none are: of fifty
 * simultaneous acts, a limit of ten admits ten. Limits never decide about money.
 */
export interface Limits {
  /**
   * `owner` (such as `user:7`) identifies whose limits these are. All counts of one owner are kept
   * in one place. The result is synchronous where the counts are in this process. It never rejects.
   */
  enter(owner: string, claims: readonly Claim[]): Permit | Full | Promise<Permit | Full>
  /**
   * Returns true while counts that should be shared between processes are kept by this process
   * alone.
   */
  isDegraded(): boolean
}

export const TOKENS_PERIOD_MS = 60_000
export const PERMITS_WAIT_MS = 1_000
export const BACKOFF_FIRST_MS = 1_000

export const isFull = (outcome: object): outcome is Full => 'full' in outcome
