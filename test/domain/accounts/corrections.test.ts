import { describe, expect, it } from 'vitest'
import type { CorrectCharges } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { QUOTA_MAX } from '#domain/shared/quota.ts'
import { admitted, budgetClosed, budgetSet, CALL, deducted, given, granted, USER } from './facts.ts'

const other = '019376a0-0000-7000-8000-000000000002'

/** Corrects calls of token 1, given as charges before and after. */
const correct = (
  changes: readonly (readonly [charge: bigint, corrected: bigint])[],
  batch = 0,
): CorrectCharges => ({
  type: 'CorrectCharges',
  ...{ userId: USER, correctionId: 'c', batch, model: 'm' },
  calls: changes.map(([charge, corrected], index) => ({
    call: index === 0 ? CALL : other,
    tokenId: 1,
    ...{ charge, corrected, channelId: 5, group: 'vip', isCosted: true },
  })),
})

describe('a correction of charges', () => {
  it('refunds to the balance and to the budget of the token, from the revenue', () => {
    const { facts, after } = given(granted(10), budgetSet(5)).when(correct([[40n, 10n]]))
    expect(facts[0]?.data).toMatchObject({
      amount: -30,
      budgets: [[1, 30]],
      postings: [
        ['user:7:main', 30],
        ['revenue', -30],
      ],
    })
    expect([after.balance, after.budgets.get(1)?.remain]).toEqual([40n, 35n])
  })

  it('takes a higher charge down to a balance of 0, and records the rest as unpaid', () => {
    const outcome = given(granted(25), budgetSet(5)).when(
      correct([
        [10n, 30n],
        [10n, 30n],
      ]),
    )
    expect(outcome.facts[0]?.data).toMatchObject({
      amount: 25,
      calls: [
        { charge: 10, corrected: 30, channelId: 5, group: 'vip', isCosted: true },
        { charge: 10, corrected: 15, unpaid: 15 },
      ],
    })
    expect([outcome.after.balance, outcome.after.budgets.get(1)?.remain]).toEqual([0n, -20n])
  })

  it('uses the refunds of its batch for the higher charges', () => {
    const calls = correct([
      [50n, 80n],
      [50n, 20n],
    ])
    const { facts, after } = given(granted(0 + 1), deducted(1)).when(calls)
    expect(facts[0]?.data).toMatchObject({ amount: 0 })
    expect(after.balance).toBe(0n)
  })

  it('never takes what open calls hold', () => {
    const { after } = given(granted(50), budgetSet(0, true), admitted(40)).when(
      correct([[0n, 99n]]),
    )
    expect([after.balance, after.held]).toEqual([0n, 40n])
  })

  it('applies each batch once, whatever a repeat says', () => {
    const once = given(granted(10)).when(correct([[40n, 10n]]))
    const repeat = given(granted(10), ...once.facts)
    repeat.when(correct([[40n, 0n]])).then([])
    expect(repeat.when(correct([[40n, 30n]], 1)).after.balance).toBe(50n)
  })

  it('leaves the budget of a deleted token closed', () => {
    const { facts } = given(granted(10), budgetSet(5), budgetClosed).when(correct([[40n, 10n]]))
    expect(facts[0]?.data).toMatchObject({ amount: -30, budgets: [] })
  })

  it('is not prevented by a budget at its maximum', () => {
    const most = Number(QUOTA_MAX)
    const { facts, after } = given(granted(10), budgetSet(most)).when(correct([[40n, 10n]]))
    expect(facts[0]?.data).toMatchObject({ amount: -30, budgets: [] })
    expect(after.budgets.get(1)?.remain).toBe(QUOTA_MAX)
  })

  it('is refused if a charge or the balance would be out of range', () => {
    const isOut = codedError('AmountOutOfRange')
    given(granted(10))
      .when(correct([[0n, -1n]]))
      .then(isOut)
    given(granted(Number(QUOTA_MAX)))
      .when(correct([[2n, 1n]]))
      .then(isOut)
  })

  it('can be undone after a failed append', () => {
    const { facts } = given(granted(10), budgetSet(5)).when(correct([[40n, 10n]]))
    const events = given(granted(10), budgetSet(5))
    const state = events.when(correct([])).after
    const before = accountDecider.snapshot?.encode(state)
    const [event] = facts
    if (event === undefined) throw new Error('no event')
    const undo = accountDecider.undo?.(state, event)
    const changed = accountDecider.evolve(state, event)
    expect(changed.balance).toBe(40n)
    undo?.()
    expect(accountDecider.snapshot?.encode(state)).toEqual(before)
  })
})
