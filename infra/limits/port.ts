/** At most `max` in any window of `periodMs`. */
export type RateClaim = {
  readonly kind: 'rate'
  readonly key: string
  readonly max: number
  readonly periodMs: number
  /** Given back when the permit is left as refunded: for counts of successes, or of wrong tries. */
  readonly isRefundable: boolean
}

/** At most `max` permits taken at once. */
export type PermitsClaim = { readonly kind: 'seats'; readonly key: string; readonly max: number }

/**
 * At most `max` tokens in any minute: `estimate` is reserved at entry and corrected when the permit
 * is left. Who asks for more than `max` passes alone, since waiting would never help.
 */
export type TokensClaim = {
  readonly kind: 'tokens'
  readonly key: string
  readonly max: number
  readonly estimate: number
}

/**
 * After `freeTries` each further try waits twice as long, from one second to `delayMsMax`.
 * Forgotten when refunded, or after `forgetMs` without a try.
 */
export type BackoffClaim = {
  readonly kind: 'backoff'
  readonly key: string
  readonly freeTries: number
  readonly delayMsMax: number
  readonly forgetMs: number
}

/** One limit that an act must fit into. `key` names it among all of its kind; limits are ≥ 1. */
export type Claim = RateClaim | PermitsClaim | TokensClaim | BackoffClaim

export type PermitEnd = {
  readonly isRefunded: boolean
  /** What was used in the end; without it the estimate stands. */
  readonly tokens?: number
}

/** What an act took. Left once, at its end; further times do nothing. */
export type Permit = { readonly release: (end: PermitEnd) => void }

/** Nothing was taken. */
export type Full = {
  /** Index of the first claim that is full. */
  readonly full: number
  /** Until all of them could have room; of permits nobody knows, and a second is said. */
  readonly waitMs: number
}

/**
 * Decides whether an act may begin, under all of its claims or none, in one step: fifty at once on
 * a limit of ten are ten. Never asked about money.
 */
export interface Limits {
  /**
   * `owner` (`user:7`) is whose limits these are: what belongs to one owner is kept in one place.
   * Answers at once where the counts are in this process. Never rejects.
   */
  enter(owner: string, claims: readonly Claim[]): Permit | Full | Promise<Permit | Full>
  /** True while counts that should be shared between processes are this process's own. */
  isDegraded(): boolean
}

export const TOKENS_PERIOD_MS = 60_000
export const SEATS_WAIT_MS = 1_000
export const BACKOFF_FIRST_MS = 1_000

export const isFull = (outcome: object): outcome is Full => 'full' in outcome
