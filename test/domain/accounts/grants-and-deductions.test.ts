import { describe, expect, it } from 'vitest'
import type { DeductQuota, GrantQuota, SetBalance } from '#domain/accounts/commands.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { QUOTA_MAX } from '#domain/shared/quota.ts'
import { admitted, budgetSet, deducted, given, granted, settled, USER } from './facts.ts'

const grant = (amount: bigint, change: Partial<GrantQuota> = {}): GrantQuota => ({
  type: 'GrantQuota',
  userId: USER,
  grantId: 'g1',
  amount,
  reason: 'admin',
  ...change,
})
const deduct = (amount: bigint, deductionId = 'd1'): DeductQuota => ({
  type: 'DeductQuota',
  userId: USER,
  deductionId,
  amount,
  reason: 'admin',
})

describe('a grant', () => {
  it('moves quota from the adjustments account to the balance when an admin gives it', () => {
    const outcome = given().when(grant(100n))
    outcome.then([granted(100)])
    expect(outcome.after.balance).toBe(100n)
  })

  it.each(['setup', 'new-user'] as const)('is a gift of the site for %s', (reason) => {
    const [fact] = given().when(grant(5n, { reason })).facts
    expect(fact?.data).toMatchObject({
      postings: [
        ['promo', -5],
        ['user:7:main', 5],
      ],
    })
  })

  it('changes nothing if its id was used before, whatever its amount', () => {
    given(granted(100)).when(grant(100n)).then([])
    given(granted(100)).when(grant(1n)).then([])
    given(granted(100))
      .when(grant(100n, { grantId: 'g2' }))
      .then([granted(100, 'g2')])
  })

  it.each([0n, -1n, QUOTA_MAX + 1n])('is refused for an amount of %s', (amount) => {
    given().when(grant(amount)).then(codedError('AmountOutOfRange'))
  })

  it('can raise balance and holds to the maximum quota, but not by one unit more', () => {
    given(granted(10, 'g0'))
      .when(grant(QUOTA_MAX - 9n))
      .then(codedError('AmountOutOfRange'))
    const held = given(granted(10, 'g0'), budgetSet(0, true), admitted(4))
    held.when(grant(QUOTA_MAX - 9n)).then(codedError('AmountOutOfRange'))
    expect(held.when(grant(QUOTA_MAX - 10n)).after.balance).toBe(QUOTA_MAX - 4n)
  })
})

describe('a deduction', () => {
  it('can move the whole balance to the adjustments account', () => {
    const outcome = given(granted(100)).when(deduct(100n))
    outcome.then([deducted(100)])
    expect(outcome.after.balance).toBe(0n)
  })

  it('is refused if it exceeds the balance by one unit', () => {
    const details = { balance: '100', needed: '101' }
    given(granted(100)).when(deduct(101n)).then(codedError('InsufficientQuota', details))
  })

  it('cannot take the quota that open calls hold', () => {
    const facts = [granted(100), budgetSet(0, true), admitted(40)]
    const details = { balance: '60', needed: '61' }
    given(...facts)
      .when(deduct(61n))
      .then(codedError('InsufficientQuota', details))
    given(...facts)
      .when(deduct(60n))
      .then([deducted(60)])
  })

  it('is refused while the balance is negative', () => {
    const facts = [granted(40), budgetSet(0, true), admitted(40), settled(40, 50)]
    const details = { balance: '-10', needed: '1' }
    given(...facts)
      .when(deduct(1n))
      .then(codedError('InsufficientQuota', details))
  })

  it('changes nothing if its id was used before', () => {
    given(granted(100), deducted(60)).when(deduct(60n)).then([])
    given(granted(100), deducted(60))
      .when(deduct(40n, 'd2'))
      .then([deducted(40, 'd2')])
  })

  it.each([0n, -1n, QUOTA_MAX + 1n])('is refused for an amount of %s', (amount) => {
    given(granted(100)).when(deduct(amount)).then(codedError('AmountOutOfRange'))
  })
})

describe('a command to set the balance', () => {
  const set = (balance: bigint, expected?: bigint): SetBalance => ({
    type: 'SetBalance',
    userId: USER,
    adjustmentId: 's1',
    balance,
    ...(expected === undefined ? {} : { expected }),
  })

  it('grants or deducts the difference, and changes nothing if there is none', () => {
    const { facts } = given(granted(100, 'g0')).when(set(130n, 100n))
    expect(facts).toMatchObject([{ type: 'QuotaGranted', data: { grantId: 's1', amount: 30 } }])
    const less = given(granted(100, 'g0')).when(set(40n)).facts
    expect(less).toMatchObject([{ type: 'QuotaDeducted', data: { deductionId: 's1', amount: 60 } }])
    given(granted(100, 'g0')).when(set(100n)).then([])
  })

  it('is refused if the balance differs from the expected one', () => {
    given(granted(100, 'g0'))
      .when(set(130n, 99n))
      .then(codedError('BalanceMoved', { balance: '100', expected: '99' }))
  })

  it('takes effect once per id, even if the balance has changed since', () => {
    given(granted(100, 'g0'), granted(30, 's1')).when(set(130n, 100n)).then([])
  })

  it('is refused for a balance below zero', () => {
    given(granted(100, 'g0')).when(set(-1n)).then(codedError('AmountOutOfRange'))
  })
})
