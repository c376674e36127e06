import { assert } from '../shared/assert.ts'
import { codedError } from '../shared/coded-error.ts'
import { isInRange, QUOTA_MAX, type Quota, toWire } from '../shared/quota.ts'
import { rebateId, topUpId } from './build-deduplication-ids.ts'
import type {
  AccountError,
  CheckIn,
  CreditTopUp,
  EarnRebate,
  ReverseRebate,
  ReverseTopUp,
  RewardInvite,
  TransferAffiliate,
} from './commands.ts'
import type { AccountEvent } from './events.ts'
import {
  cashPostings,
  giftPostings,
  rebateBackPostings,
  rewardPostings,
  transferPostings,
} from './ledger-postings.ts'
import type { AccountState } from './state.ts'

type Outcome = readonly AccountEvent[] | AccountError

/**
 * Reports whether the balance stays within the maximum quota after `amount` is added, even if all
 * holds return to the balance.
 */
export const fitsBalance = (amount: Quota, { balance, held }: AccountState): boolean =>
  amount <= QUOTA_MAX && balance + held + amount <= QUOTA_MAX

/**
 * Credits the reward of an invitation, once per invitee. If the affiliate balance would exceed its
 * maximum, the reward is reduced, so that the registration does not fail.
 */
export function rewardInvite(command: RewardInvite, state: AccountState): Outcome {
  const { userId, inviteeId } = command
  if (state.inviteeIds.has(inviteeId)) return []
  const room = QUOTA_MAX - state.affiliate
  const reward = command.reward < room ? command.reward : room
  assert(reward >= 0n, 'a reward must not be negative')
  const postings = rewardPostings(userId, reward)
  const data = { userId, inviteeId, reward: toWire(reward), postings }
  return [{ type: 'InviteRewarded', v: 1, data }]
}

export function transferAffiliate(command: TransferAffiliate, state: AccountState): Outcome {
  const { userId, transferId, amount, least } = command
  if (state.transferIds.has(transferId)) return []
  if (amount <= 0n || amount < least)
    return codedError('TransferTooSmall', { least: String(least) })
  if (amount > state.affiliate) {
    const params = { balance: String(state.affiliate), needed: String(amount) }
    return codedError('InsufficientAffiliate', params)
  }
  if (!fitsBalance(amount, state)) return codedError('AmountOutOfRange')
  const postings = transferPostings(userId, amount)
  const data = { userId, transferId, amount: toWire(amount), postings }
  return [{ type: 'AffiliateTransferred', v: 1, data }]
}

/**
 * Credits a daily check-in if its day is later than the day of the last check-in. This rule
 * prevents a second reward if the clocks of servers differ.
 */
export function checkIn(command: CheckIn, state: AccountState): Outcome {
  const { userId, day, amount } = command
  if (day <= state.checkInDay) return codedError('CheckedInAlready')
  if (amount < 0n || !fitsBalance(amount, state)) return codedError('AmountOutOfRange')
  const postings = giftPostings(userId, amount)
  return [{ type: 'CheckedIn', v: 1, data: { userId, day, amount: toWire(amount), postings } }]
}

export function creditTopUp(command: CreditTopUp, state: AccountState): Outcome {
  const { userId, orderId, restoreNo, provider, amount } = command
  if (state.grantIds.has(topUpId(command))) return []
  if (amount <= 0n || !fitsBalance(amount, state)) return codedError('AmountOutOfRange')
  const postings = cashPostings(userId, amount, provider)
  const of = { userId, orderId, ...(restoreNo === undefined ? {} : { restoreNo }) }
  const data = { ...of, provider, amount: toWire(amount), postings }
  return [{ type: 'TopUpCredited', v: 1, data }]
}

/** Deducts refunded quota. A negative balance blocks calls until the user has paid the debt. */
export function reverseTopUp(command: ReverseTopUp, state: AccountState): Outcome {
  const { userId, orderId, refundNo, provider, amount, note } = command
  if (state.deductionIds.has(topUpId(command))) return []
  if (!isTakable(amount, state.balance)) return codedError('AmountOutOfRange')
  const postings = cashPostings(userId, -amount, provider)
  const of = { userId, orderId, refundNo, provider }
  return [{ type: 'TopUpReversed', v: 1, data: { ...of, amount: toWire(amount), note, postings } }]
}

/**
 * Credits the inviter's share of a payment. If the affiliate balance would exceed its maximum, the
 * share is reduced, so that the payment succeeds.
 */
export function earnRebate(command: EarnRebate, state: AccountState): Outcome {
  const { userId, orderId, restoreNo, inviteeId } = command
  if (state.grantIds.has(rebateId(command))) return []
  const room = QUOTA_MAX - state.affiliate
  const amount = command.amount < room ? command.amount : room
  if (amount <= 0n) return []
  const postings = rewardPostings(userId, amount)
  const of = { userId, orderId, ...(restoreNo === undefined ? {} : { restoreNo }) }
  const data = { ...of, inviteeId, amount: toWire(amount), postings }
  return [{ type: 'RebateEarned', v: 1, data }]
}

/**
 * Deducts the inviter's share of a refunded order from the affiliate balance. If the affiliate
 * balance is too low, the rest is deducted from the balance.
 */
export function reverseRebate(command: ReverseRebate, state: AccountState): Outcome {
  const { userId, orderId, refundNo, amount } = command
  if (state.deductionIds.has(rebateId(command))) return []
  const there = state.affiliate > 0n ? state.affiliate : 0n
  const lacking = amount > there ? amount - there : 0n
  const isAmount = amount > 0n && isInRange(amount)
  if (!isAmount || !isOwable(state.balance - lacking)) return codedError('AmountOutOfRange')
  const postings = rebateBackPostings(userId, amount - lacking, lacking)
  const of = { userId, orderId, refundNo, amount: toWire(amount) }
  const data = { ...of, ...(lacking > 0n && { fromBalance: toWire(lacking) }), postings }
  return [{ type: 'RebateReversed', v: 1, data }]
}

/**
 * Reports whether a balance is within the debt limit, which is half of the maximum quota. The limit
 * leaves room for charges that exceed their holds.
 */
const isOwable = (balance: Quota): boolean => balance >= -QUOTA_MAX / 2n

const isTakable = (amount: Quota, from: Quota): boolean =>
  amount > 0n && isInRange(amount) && isOwable(from - amount)
