import type { Refusal } from '../shared/refusal.ts'

export type AccountRefusalCode =
  /** The balance does not cover it; details: `balance`, `needed`. */
  | 'InsufficientQuota'
  | 'TokenBudgetExhausted'
  | 'TokenBudgetUnknown'
  | 'CallUnknown'
  /** The call is over, or its id is older than what is remembered of ended calls. */
  | 'CallEnded'
  | 'LeaseNotOver'
  /** Not above 0 where it must be, or beyond 2^53 − 1 alone or with what is there. */
  | 'AmountOutOfRange'

export type AccountRefusal = Refusal<AccountRefusalCode>
