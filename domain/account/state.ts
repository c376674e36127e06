import type { PriceSnapshot, ProviderCost } from '../pricing/price.ts'
import type { Usage } from '../pricing/usage.ts'
import type { Sealed } from '../shared/event.ts'
import type { Quota } from '../shared/quota.ts'
import { type EndedCalls, noEndedCalls } from './ended-calls.ts'
import type { CallFacts } from './events.ts'

/** `remain` is what holds have left; it goes on counting when the token has no limit. */
export type TokenBudget = { remain: Quota; isUnlimited: boolean }

/** A call that was admitted and has not ended. */
export type OpenCall = {
  readonly facts: CallFacts
  hold: Quota
  readonly price: PriceSnapshot
  readonly clientIp: Sealed | null
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly isTask?: true
  leaseUntil: number
  progress: Progress | null
}

/** Where a call is, and what it used so far. */
export type Progress = Pick<ProviderCost, 'costRatio'> & {
  readonly channelId: number
  readonly usage: Usage
}

/**
 * What the account's events amount to. Folding changes it in place: an event costs the same
 * whether one call is open or a thousand are.
 */
export type AccountState = {
  balance: Quota
  /** The sum of the open calls' holds. */
  held: Quota
  /**
   * An admin's deduction or a refund left nothing that is free, and nothing was gained since: calls
   * that run may go no further.
   */
  isEmptied: boolean
  readonly budgets: Map<number, TokenBudget>
  readonly open: Map<string, OpenCall>
  readonly ended: EndedCalls
  readonly grantIds: Set<string>
  readonly deductionIds: Set<string>
  /** What invitations brought and was not transferred yet. */
  affiliate: Quota
  readonly inviteeIds: Set<number>
  readonly transferIds: Set<string>
  /** The last day of a check-in; empty while there was none. */
  checkInDay: string
}

export const initialAccount = (): AccountState => ({
  balance: 0n,
  held: 0n,
  isEmptied: false,
  budgets: new Map(),
  open: new Map(),
  ended: noEndedCalls(),
  grantIds: new Set(),
  deductionIds: new Set(),
  affiliate: 0n,
  inviteeIds: new Set(),
  transferIds: new Set(),
  checkInDay: '',
})
