import { describe, expect, it } from 'vitest'
import { type HoldTerms, indexOfAdmittedTerms } from '#domain/accounts/affordable-terms.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { playgroundTokenId } from '#domain/shared/playground-token-id.ts'
import { QUOTA_MAX } from '#domain/shared/quota.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import {
  admitCall,
  admitted,
  budgetSet,
  CALL,
  deducted,
  funded,
  given,
  granted,
  interrupted,
  PER_CALL,
  PER_TOKEN,
  releaseCall,
  released,
  settleCall,
  settled,
} from './facts.ts'

const SECOND = '019376a0-0000-7000-8000-000000000002'
const THIRD = '019376a0-0000-7000-8000-000000000003'
const FOURTH = '019376a0-0000-7000-8000-000000000004'

describe('the admission of a call', () => {
  it('moves the hold from the balance, even if it takes the whole balance', () => {
    const outcome = given(...funded(40)).when(admitCall())
    outcome.then([admitted(40)])
    expect(outcome.after).toMatchObject({ balance: 0n, held: 40n })
  })

  it('is refused, with balance and need, if the hold exceeds the balance by one unit', () => {
    const details = { balance: '39', needed: '40' }
    given(...funded(39))
      .when(admitCall())
      .then(codedError('InsufficientQuota', details))
  })

  it('refuses a second call whose hold exceeds the rest of the balance', () => {
    const details = { balance: '10', needed: '40' }
    given(...funded(50), admitted(40))
      .when(admitCall({ call: SECOND }))
      .then(codedError('InsufficientQuota', details))
  })

  it('admits exactly ten of fifty calls when the balance covers ten', () => {
    let facts = [...funded(10)]
    for (let n = 0; n < 50; n += 1) {
      const call = `019376a0-0000-7000-8000-0000000001${String(n).padStart(2, '0')}`
      facts = [...facts, ...given(...facts).when(admitCall({ call, hold: 1n })).facts]
    }
    expect(given(...facts).state).toMatchObject({ balance: 0n, held: 10n })
  })

  it('records how many times a price per call is charged', () => {
    const priced = { price: PER_CALL, calls: 128 }
    given(...funded(2_000))
      .when(admitCall({ ...priced, hold: 1_280n }))
      .then([admitted(1_280, priced)])
  })

  it.each([0, 129, 1.5, -1])('throws for %s calls, because that is a bug', (calls) => {
    expect(() => given(...funded(100)).when(admitCall({ calls }))).toThrow('1 to 128 calls')
  })

  it.each([-1n, QUOTA_MAX + 1n])('is refused for a hold of %s', (hold) => {
    const outcome = given(...funded(100)).when(admitCall({ hold }))
    outcome.then(codedError('AmountOutOfRange'))
  })

  it('succeeds for a free call while the balance is 0', () => {
    given(budgetSet(0, true))
      .when(admitCall({ hold: 0n }))
      .then([admitted(0)])
  })
})

describe('the admission of a call with cheaper terms', () => {
  const bounds = { inputTokens: 10, outputTokens: 400, choices: 1 }
  const DEAR = perTokenPrice({ completion: '4', group: '3' })
  const reductionWith = (leastOutputTokens: number) => ({
    reduction: { bounds, leastOutputTokens, mostOutputTokens: 400 },
  })
  const termsOf = (price: PriceSnapshot, least = 256) => ({
    ...{ price, hold: holdFor(price, bounds) },
    ...reductionWith(least),
  })
  const [dear, cheap] = [termsOf(DEAR), termsOf(PER_TOKEN)]
  const perCall = { price: PER_CALL, hold: 1_000_000n }
  const bare = ({ price, hold }: HoldTerms) => [Number(hold), { price }] as const

  it('has the first terms while the balance covers them', () => {
    given(...funded(Number(dear.hold)))
      .when(admitCall({ ...dear, cheaper: [cheap] }))
      .then([admitted(...bare(dear))])
  })

  it('has the cheaper terms instead of a smaller output limit', () => {
    given(...funded(Number(dear.hold) - 1))
      .when(admitCall({ ...dear, cheaper: [cheap] }))
      .then([admitted(...bare(cheap))])
  })

  it('has the cheaper terms if the budget of the token does not cover the first', () => {
    given(granted(1_000_000), budgetSet(Number(cheap.hold)))
      .when(admitCall({ ...perCall, cheaper: [dear, cheap] }))
      .then([admitted(...bare(cheap))])
  })

  it('has the terms with the longest output if the balance covers none in full', () => {
    const balance = Number(cheap.hold) - 1
    const all = [perCall, termsOf(DEAR, 1), cheap] as const
    const [first, ...cheaper] = all
    const outcome = given(...funded(balance)).when(admitCall({ ...first, cheaper }))
    expect(outcome.facts).toMatchObject([{ data: { price: PER_TOKEN, outputLimit: 399 } }])
    const [event] = outcome.facts
    if (event?.type !== 'CallAdmitted') throw new Error('not admitted')
    expect(indexOfAdmittedTerms(event.data, all)).toBe(2)
  })

  it('has the first of the terms that are reduced to the same limit', () => {
    const few = { bounds, leastOutputTokens: 1, mostOutputTokens: 40, timesPayable: 8n }
    const [first, second] = [dear, cheap].map((terms) => ({ ...terms, reduction: few }))
    const command = admitCall({ ...first, cheaper: second === undefined ? [] : [second] })
    const outcome = given(...funded(Number(dear.hold))).when(command)
    expect(outcome.facts).toMatchObject([{ data: { price: DEAR, outputLimit: 40 } }])
  })

  it('has the cheaper terms without a limit if the first need a limit, though payable', () => {
    const openEnded = (price: PriceSnapshot) => ({
      ...{ price, hold: holdFor(price, bounds) },
      reduction: { bounds, leastOutputTokens: 1, mostOutputTokens: 8_192, timesPayable: 8n },
    })
    const command = admitCall({ ...openEnded(DEAR), cheaper: [openEnded(PER_TOKEN)] })
    given(...funded(3 * Number(dear.hold)))
      .when(command)
      .then([admitted(...bare(cheap))])
    given(...funded(8 * Number(dear.hold)))
      .when(command)
      .then([admitted(...bare(dear))])
  })

  it('is refused with the need of the first terms if the balance covers none', () => {
    given(...funded(100))
      .when(admitCall({ ...dear, cheaper: [cheap] }))
      .then(codedError('InsufficientQuota', { balance: '100', needed: `${dear.hold}` }))
  })

  it('is free for an account without quota, but not for an account with a debt', () => {
    const free = { ...PER_TOKEN, group: '0' }
    const command = admitCall({ ...dear, cheaper: [{ price: free, hold: 0n }] })
    given(budgetSet(0, true))
      .when(command)
      .then([admitted(0, { price: free })])
    const indebted = { ...given(budgetSet(0, true)).state, balance: -1n }
    expect(accountDecider.decide(command, indebted)).toMatchObject({ code: 'InsufficientQuota' })
  })

  it('never holds more than the balance, for fifty calls at once', () => {
    let facts = [...funded(22_000)]
    for (let n = 0; n < 50; n += 1) {
      const call = `019376a0-0000-7000-8000-0000000001${String(n).padStart(2, '0')}`
      const command = admitCall({ ...dear, call, cheaper: [cheap] })
      facts = [...facts, ...given(...facts).when(command).facts]
    }
    const { state } = given(...facts)
    expect(state.balance).toBeGreaterThanOrEqual(0n)
    const prices = [...state.open.values()].map(({ price }) => price)
    expect(prices).toEqual([DEAR, DEAR, DEAR, DEAR, PER_TOKEN])
  })
})

describe('a playground call', () => {
  const tokenId = playgroundTokenId(7)

  it('needs no token budget, and returns the unused part of its hold', () => {
    const outcome = given(granted(100)).when(admitCall({ tokenId }))
    outcome.then([admitted(40, { tokenId })])
    expect(outcome.after).toMatchObject({ balance: 60n, held: 40n })
    const { state } = given(granted(100), admitted(40, { tokenId }), settled(40, 30))
    expect(state).toMatchObject({ balance: 70n, held: 0n })
    expect(state.budgets.size).toBe(0)
  })

  it('is refused if its hold exceeds the balance', () => {
    given(granted(39))
      .when(admitCall({ tokenId }))
      .then(codedError('InsufficientQuota', { balance: '39', needed: '40' }))
  })
})

describe('the admission of a call while the balance is negative', () => {
  const owing = [...funded(40), admitted(40), settled(40, 50)]

  it.each([0n, 1n])('is refused, even for a hold of %s', (hold) => {
    const details = { balance: '-10', needed: String(hold) }
    given(...owing)
      .when(admitCall({ call: SECOND, hold }))
      .then(codedError('InsufficientQuota', details))
  })

  it('is possible again after a grant lifts the balance above zero', () => {
    given(...owing, granted(12, 'g2'))
      .when(admitCall({ call: SECOND, hold: 2n }))
      .then([
        admitted(2, {
          call: SECOND,
        }),
      ])
  })
})

describe('a repeated admission of the same call', () => {
  it.each([
    ['while it is open', []],
    ['after it was settled', [settled(40, 30)]],
    ['after it was released', [released(40)]],
    ['after it was interrupted', [interrupted(40, 0)]],
  ])('changes nothing %s', (_when, ends) => {
    given(...funded(100), admitted(40), ...ends)
      .when(admitCall())
      .then([])
  })

  it('changes nothing, even if the balance no longer covers the hold', () => {
    given(...funded(40), admitted(40))
      .when(admitCall())
      .then([])
  })
})

describe('a call that pays for a task', () => {
  const task = { openMax: 2 }
  const isTask = true as const
  const at = (n: number) => `019376a0-0000-7000-8000-00000000020${n}`

  it('is marked as a task when it is admitted', () => {
    given(...funded(100))
      .when(admitCall({ task }))
      .then([admitted(40, { isTask })])
  })

  it('is refused if its id belongs to another call, open or ended', () => {
    given(...funded(100), admitted(40))
      .when(admitCall({ task }))
      .then(codedError('CallKnown'))
    for (const end of [settled(40, 30), released(40), interrupted(40, 0)]) {
      given(...funded(100), admitted(40), end)
        .when(admitCall({ task }))
        .then(codedError('CallEnded'))
    }
  })

  it('needs a balance above zero even if it is free', () => {
    given(budgetSet(0, true))
      .when(admitCall({ task, hold: 0n }))
      .then(codedError('InsufficientQuota', { balance: '0', needed: '0' }))
    given(...funded(1))
      .when(admitCall({ task, hold: 0n }))
      .then([admitted(0, { isTask })])
  })

  it('is refused at the limit of open tasks; chats and ended tasks do not count', () => {
    const open = (n: number, change = {}) => admitted(1, { call: at(n), ...change })
    const more = admitCall({ task, call: SECOND, hold: 1n })
    const facts = [...funded(100), open(1, { isTask }), open(2), open(3)]
    given(...facts)
      .when(more)
      .then([admitted(1, { call: SECOND, isTask })])
    const full = [...facts, open(4, { isTask })]
    given(...full)
      .when(more)
      .then(codedError('TooManyTasks', { max: 2 }))
    given(...full, settled(1, 1, { call: at(4) }))
      .when(more)
      .then([admitted(1, { call: SECOND, isTask })])
    given(...full)
      .when(admitCall({ call: SECOND, hold: 1n }))
      .then([admitted(1, { call: SECOND })])
  })
})

describe('a call that pays for a modal step', () => {
  const isTask = true as const
  const step = { openMax: 9, stepOf: CALL }
  const first = [...funded(100), admitted(40, { isTask })]
  const opened = admitted(1, { call: SECOND, isTask, stepOf: CALL })
  const timeout = releaseCall({ reason: 'timeout' })

  it('is marked with the task that it completes', () => {
    given(...first)
      .when(admitCall({ call: SECOND, hold: 1n, task: step }))
      .then([opened])
  })

  it('is refused while another step of the same task is open, and allowed after it', () => {
    const next = admitCall({ call: THIRD, hold: 1n, task: step })
    given(...first, opened)
      .when(next)
      .then(codedError('StepOpen', { step: SECOND }))
    given(...first, opened, settled(1, 1, { call: SECOND }))
      .when(next)
      .then([admitted(1, { call: THIRD, isTask, stepOf: CALL })])
    const other = admitted(1, { call: FOURTH, isTask })
    given(...first, opened, other)
      .when(admitCall({ call: THIRD, hold: 1n, task: { openMax: 9, stepOf: FOURTH } }))
      .then([admitted(1, { call: THIRD, isTask, stepOf: FOURTH })])
  })

  it('is refused if it names an open step as the task that it completes', () => {
    given(...first, opened)
      .when(admitCall({ call: THIRD, hold: 1n, task: { openMax: 9, stepOf: SECOND } }))
      .then(codedError('StepOpen', { step: SECOND }))
  })

  it('is refused once the task that pays for its result has ended', () => {
    given(...first, settled(40, 40))
      .when(admitCall({ call: SECOND, hold: 1n, task: step }))
      .then(codedError('StepTooLate'))
  })

  it('keeps the task that it completes from expiring without a charge', () => {
    given(...first, opened)
      .when(timeout)
      .then(codedError('StepOpen', { step: SECOND }))
    const after = given(...first, opened, settled(1, 1, { call: SECOND })).when(timeout)
    expect(after.outcome).toMatchObject([{ type: 'CallReleased' }])
    const deleted = releaseCall({ reason: 'upstream-error', errorCode: 'task_channel_deleted' })
    expect(given(...first, opened).when(deleted).outcome).toMatchObject([{ type: 'CallReleased' }])
  })

  it('keeps the task that it completes from failing, because its window may end as failed', () => {
    const failed = releaseCall({ reason: 'upstream-error', errorCode: 'task_failed' })
    given(...first, opened)
      .when(failed)
      .then(codedError('StepOpen', { step: SECOND }))
    const after = given(...first, opened, settled(1, 1, { call: SECOND })).when(failed)
    expect(after.outcome).toMatchObject([{ type: 'CallReleased' }])
  })
})

describe('the admission of work that a provider has already done', () => {
  const owed = admitCall({ hold: 0n, isOwed: true })

  it.each([
    ['a negative balance', [granted(10), budgetSet(0, true), deducted(15)]],
    ['a negative budget', [granted(100), budgetSet(-5)]],
    ['a deleted token', [granted(100)]],
  ])('succeeds with %s, and the charge is complete', (_name, facts) => {
    const outcome = given(...facts).when(owed)
    outcome.then([admitted(0)])
    const limits = { inputTokens: 10, outputTokens: 5 }
    given(...outcome.facts)
      .when(settleCall({ limits }))
      .then([settled(0, 30)])
  })

  it('is refused without this mark, even with a hold of 0', () => {
    const call = admitCall({ hold: 0n })
    given(granted(100))
      .when(call)
      .then(codedError('TokenBudgetUnknown', { tokenId: 1 }))
  })

  it('throws if a hold is requested for it, because that is a bug', () => {
    const call = admitCall({ hold: 1n, isOwed: true })
    expect(() => given(...funded(100)).when(call)).toThrow('an owed call must have a hold of 0')
  })
})
