import { assert } from '../shared/assert.ts'
import { fromWire, type Quota, toWire, type WireQuota } from '../shared/quota.ts'
import type { AccountEvent, Posting, QuotaGranted } from './events.ts'
import type { AccountState } from './state.ts'

const main = (userId: number): string => `user:${userId}:main`
const affiliate = (userId: number): string => `user:${userId}:aff`
const held = (userId: number): string => `user:${userId}:held`

/**
 * The ledger account from which granted quota is taken, by the reason of the grant. Initial quota
 * is a gift of the site (`promo`).
 */
const SOURCES: Readonly<Record<QuotaGranted['data']['reason'], string>> = {
  setup: 'promo',
  'new-user': 'promo',
  invited: 'promo',
  admin: 'adjustment',
  redemption: 'redemption',
}

export const grantPostings = (
  userId: number,
  amount: Quota,
  reason: QuotaGranted['data']['reason'],
): readonly Posting[] =>
  balanced([
    [SOURCES[reason], -amount],
    [main(userId), amount],
  ])

export const deductionPostings = (userId: number, amount: Quota): readonly Posting[] =>
  balanced([
    [main(userId), -amount],
    ['adjustment', amount],
  ])

export const holdPostings = (userId: number, hold: Quota): readonly Posting[] =>
  balanced([
    [main(userId), -hold],
    [held(userId), hold],
  ])

export const rewardPostings = (userId: number, reward: Quota): readonly Posting[] =>
  balanced([
    ['promo', -reward],
    [affiliate(userId), reward],
  ])

/**
 * Posts the return of a rebate to the site. `fromAffiliate` is taken from the affiliate balance,
 * and `fromBalance` from the balance.
 */
export const rebateBackPostings = (
  userId: number,
  fromAffiliate: Quota,
  fromBalance: Quota,
): readonly Posting[] => {
  const pockets = [
    [affiliate(userId), -fromAffiliate],
    [main(userId), -fromBalance],
  ] as const
  return balanced([
    ['promo', fromAffiliate + fromBalance],
    ...pockets.filter(([, amount]) => amount !== 0n),
  ])
}

export const transferPostings = (userId: number, amount: Quota): readonly Posting[] =>
  balanced([
    [affiliate(userId), -amount],
    [main(userId), amount],
  ])

/** Posts money received through the payment provider. A negative amount is a refund. */
export const cashPostings = (userId: number, amount: Quota, provider: string): readonly Posting[] =>
  balanced([
    [`cash:${provider}`, -amount],
    [main(userId), amount],
  ])

export const giftPostings = (userId: number, amount: Quota): readonly Posting[] =>
  balanced([
    ['promo', -amount],
    [main(userId), amount],
  ])

/**
 * Releases the entire hold and posts the charge as revenue. If the charge is below the hold, the
 * balance gets the difference. If the charge is above the hold, the balance pays the difference.
 */
export const endPostings = (userId: number, hold: Quota, charge: Quota): readonly Posting[] =>
  balanced([
    [held(userId), -hold],
    ['revenue', charge],
    [main(userId), hold - charge],
  ])

/** Posts the additional charge of a correction. A negative amount is refunded. */
export const correctionPostings = (userId: number, amount: Quota): readonly Posting[] =>
  balanced([
    [main(userId), -amount],
    ['revenue', amount],
  ])

function balanced(
  legs: readonly (readonly [account: string, amount: Quota])[],
): readonly Posting[] {
  let sum = 0n
  const postings: Posting[] = []
  for (const [account, amount] of legs) {
    sum += amount
    postings.push([account, toWire(amount)])
  }
  if (sum !== 0n) assert(false, `the sum of the postings is ${sum} and not 0`)
  return postings
}

type BalancesAfter = { balanceAfter?: WireQuota; heldAfter?: WireQuota }

/**
 * Adds the resulting balance and held quota to each event that changes one of these amounts.
 * `state` is the state before the events. The events were just created, so their data is changed in
 * place.
 */
export function addBalancesAfter(events: readonly AccountEvent[], state: AccountState): void {
  let { balance, held } = state
  for (const { data } of events) {
    if (!('postings' in data)) continue
    let isChanged = false
    for (const [account, amount] of data.postings) {
      if (!account.startsWith('user:')) continue
      const isMain = account.endsWith(':main')
      if (!isMain && !account.endsWith(':held')) continue
      isChanged = true
      if (isMain) balance += fromWire(amount)
      else held += fromWire(amount)
    }
    if (!isChanged) continue
    const changed: BalancesAfter = data
    changed.balanceAfter = toWire(balance)
    changed.heldAfter = toWire(held)
  }
}
