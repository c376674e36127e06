import type { Refusal } from '../shared/refusal.ts'

export type AccountRefusalCode =
  /** The balance does not cover it; details: `balance`, `needed`. */
  | 'InsufficientQuota'
  /** The balance is not the one that the change was made for; details: `balance`, `expected`. */
  | 'BalanceMoved'
  /** The affiliate balance does not cover it; details: `balance`, `needed`. */
  | 'InsufficientAffiliate'
  /** Below what may be transferred at once; details: `least`. */
  | 'TransferTooSmall'
  | 'CheckedInAlready'
  | 'TokenBudgetExhausted'
  | 'TokenBudgetUnknown'
  | 'CallUnknown'
  /** A task's call has to be new, and this one runs already. */
  | 'CallKnown'
  /** As many tasks as a user may have are open; details: `max`. */
  | 'TooManyTasks'
  /** The call is over, or its id is older than what is remembered of ended calls. */
  | 'CallEnded'
  | 'LeaseNotOver'
  /** Not above 0 where it must be, or beyond 2^53 − 1 alone or with what is there. */
  | 'AmountOutOfRange'

export type AccountRefusal = Refusal<AccountRefusalCode>
