import { describe, expect, it } from 'vitest'
import type { DeductQuota, GrantQuota, SetBalance } from '#domain/account/commands.ts'
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
  it('credits the balance from adjustments when an admin gives it', () => {
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

  it('of an id seen before changes nothing, whatever its amount', () => {
    given(granted(100)).when(grant(100n)).then([])
    given(granted(100)).when(grant(1n)).then([])
    given(granted(100))
      .when(grant(100n, { grantId: 'g2' }))
      .then([granted(100, 'g2')])
  })

  it.each([0n, -1n, QUOTA_MAX + 1n])('of %s is refused', (amount) => {
    given().when(grant(amount)).then(codedError('AmountOutOfRange'))
  })

  it('fills up to the largest quota there is and not one further, holds counted', () => {
    given(granted(10, 'g0'))
      .when(grant(QUOTA_MAX - 9n))
      .then(codedError('AmountOutOfRange'))
    const held = given(granted(10, 'g0'), budgetSet(0, true), admitted(4))
    held.when(grant(QUOTA_MAX - 9n)).then(codedError('AmountOutOfRange'))
    expect(held.when(grant(QUOTA_MAX - 10n)).after.balance).toBe(QUOTA_MAX - 4n)
  })
})

describe('a deduction', () => {
  it('takes the whole balance, to adjustments', () => {
    const outcome = given(granted(100)).when(deduct(100n))
    outcome.then([deducted(100)])
    expect(outcome.after.balance).toBe(0n)
  })

  it('of one more than the balance is refused', () => {
    const details = { balance: '100', needed: '101' }
    given(granted(100)).when(deduct(101n)).then(codedError('InsufficientQuota', details))
  })

  it('does not reach what calls hold', () => {
    const facts = [granted(100), budgetSet(0, true), admitted(40)]
    const details = { balance: '60', needed: '61' }
    given(...facts)
      .when(deduct(61n))
      .then(codedError('InsufficientQuota', details))
    given(...facts)
      .when(deduct(60n))
      .then([deducted(60)])
  })

  it('is refused below zero', () => {
    const facts = [granted(40), budgetSet(0, true), admitted(40), settled(40, 50)]
    const details = { balance: '-10', needed: '1' }
    given(...facts)
      .when(deduct(1n))
      .then(codedError('InsufficientQuota', details))
  })

  it('of an id seen before changes nothing', () => {
    given(granted(100), deducted(60)).when(deduct(60n)).then([])
    given(granted(100), deducted(60))
      .when(deduct(40n, 'd2'))
      .then([deducted(40, 'd2')])
  })

  it.each([0n, -1n, QUOTA_MAX + 1n])('of %s is refused', (amount) => {
    given(granted(100)).when(deduct(amount)).then(codedError('AmountOutOfRange'))
  })
})

describe('a balance that is set', () => {
  const set = (balance: bigint, expected?: bigint): SetBalance => ({
    type: 'SetBalance',
    userId: USER,
    adjustmentId: 's1',
    balance,
    ...(expected === undefined ? {} : { expected }),
  })

  it('is a grant or a deduction of the difference, and nothing where there is none', () => {
    const { facts } = given(granted(100, 'g0')).when(set(130n, 100n))
    expect(facts).toMatchObject([{ type: 'QuotaGranted', data: { grantId: 's1', amount: 30 } }])
    const less = given(granted(100, 'g0')).when(set(40n)).facts
    expect(less).toMatchObject([{ type: 'QuotaDeducted', data: { deductionId: 's1', amount: 60 } }])
    given(granted(100, 'g0')).when(set(100n)).then([])
  })

  it('is refused where the balance is another than the one it was made for', () => {
    given(granted(100, 'g0'))
      .when(set(130n, 99n))
      .then(codedError('BalanceMoved', { balance: '100', expected: '99' }))
  })

  it('is set once for one id, also where the balance has moved since', () => {
    given(granted(100, 'g0'), granted(30, 's1')).when(set(130n, 100n)).then([])
  })

  it('is never below zero', () => {
    given(granted(100, 'g0')).when(set(-1n)).then(codedError('AmountOutOfRange'))
  })
})
