import { assert } from '../shared/assert.ts'
import { codedError } from '../shared/coded-error.ts'
import { QUOTA_MAX, type Quota, toWire } from '../shared/quota.ts'
import type { AccountError, CheckIn, RewardInvite, TransferAffiliate } from './commands.ts'
import type { AccountEvent } from './events.ts'
import { giftPostings, rewardPostings, transferPostings } from './ledger-postings.ts'
import type { AccountState } from './state.ts'

type Outcome = readonly AccountEvent[] | AccountError

/**
 * Reports whether `amount` can be added without exceeding the maximum quota, even if all holds
 * return to the balance.
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
  assert(reward >= 0n, 'a reward is given, never taken')
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
