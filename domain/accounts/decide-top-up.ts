import { codedError } from '../shared/coded-error.ts'
import { isInRange, QUOTA_MAX, type Quota, toWire } from '../shared/quota.ts'
import { rebateId, topUpId } from './build-deduplication-ids.ts'
import type {
  AccountError,
  CreditTopUp,
  EarnRebate,
  ReverseRebate,
  ReverseTopUp,
} from './commands.ts'
import { fitsBalance } from './decide-rewards.ts'
import type { AccountEvent } from './events.ts'
import { cashPostings, rebateBackPostings, rewardPostings } from './ledger-postings.ts'
import type { AccountState } from './state.ts'

type Outcome = readonly AccountEvent[] | AccountError

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
 * Reports whether a negative balance is within the debt limit, which is half of the maximum quota.
 * The limit leaves room for charges that exceed their holds.
 */
const isOwable = (balance: Quota): boolean => balance >= -QUOTA_MAX / 2n

const isTakable = (amount: Quota, from: Quota): boolean =>
  amount > 0n && isInRange(amount) && isOwable(from - amount)
