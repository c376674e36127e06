import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountCommand, SetTokenBudget } from '#domain/accounts/commands.ts'
import { accountDecider, heldBy } from '#domain/accounts/decide.ts'
import { quotaUsedUpError } from '#domain/accounts/decide-call.ts'
import type { AccountState, OpenCall } from '#domain/accounts/state.ts'
import { codedError, isCodedError } from '#domain/shared/coded-error.ts'
import { QUOTA_MAX } from '#domain/shared/quota.ts'
import {
  admitCall,
  admitted,
  budgetClosed,
  budgetSet,
  budgetsOpened,
  CALL,
  funded,
  given,
  granted,
  progressed,
  released,
  settleCall,
  settled,
  USER,
  used,
} from './facts.ts'

const setBudget = (remain: bigint, isUnlimited = false): SetTokenBudget => ({
  type: 'SetTokenBudget',
  userId: USER,
  tokenId: 1,
  remain,
  isUnlimited,
})
const closeBudget = { type: 'CloseTokenBudgets', userId: USER, tokenIds: [1] } as const
const openBudgets = (tokenIds: readonly number[], remain: bigint) =>
  ({ type: 'OpenTokenBudgets', userId: USER, tokenIds, remain, isUnlimited: false }) as const
const recordProgress = {
  type: 'RecordProgress',
  call: CALL,
  channelId: 5,
  usage: used({ inputUncached: 1 }),
  leaseUntil: 3_000,
} as const

/** Admits a call with a hold, or ends the oldest call at a charge. */
type Operation = { readonly hold: bigint } | { readonly charge: bigint }
const amount = fc.bigInt(0n, 30n)
const history = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ hold: amount }) },
    { weight: 1, arbitrary: fc.record({ charge: amount }) },
  ),
  { maxLength: 6 },
)

/** Applies the command. Returns the number of events. */
function apply(state: AccountState, command: AccountCommand): number {
  const outcome = accountDecider.decide(command, state)
  if (isCodedError(outcome)) return 0
  for (const event of outcome) accountDecider.evolve(state, event)
  return outcome.length
}

/** Executes the operations, and adds the charges of ended calls to `ended`. */
function carryOut(
  state: AccountState,
  operations: readonly Operation[],
  ended: { charge: bigint },
): void {
  for (const operation of operations) {
    if ('hold' in operation) {
      const call = CALL.slice(0, -3) + String(state.admissions + 100)
      apply(state, admitCall({ call, hold: operation.hold }))
      continue
    }
    const [oldest] = state.open
    if (oldest === undefined) continue
    const [call, { hold }] = oldest
    const charge = operation.charge < hold ? operation.charge : hold
    apply(state, settleCall({ call, usage: used({ inputUncached: Number(charge) }) }))
    ended.charge += charge
  }
}

const sumOfHolds = (calls: readonly OpenCall[]): bigint =>
  calls.reduce((sum, { hold }) => sum + hold, 0n)
const remainOf = ({ budgets }: AccountState): bigint | undefined => budgets.get(1)?.remain

describe('a token’s budget', () => {
  it('is recorded when it is set; the same value again changes nothing', () => {
    given()
      .when(setBudget(30n))
      .then([budgetSet(30)])
    given(budgetSet(30)).when(setBudget(30n)).then([])
    given(budgetSet(30))
      .when(setBudget(30n, true))
      .then([budgetSet(30, true)])
  })

  it('admits a call whose hold is exactly the budget, and refuses one unit more', () => {
    const facts = [granted(100), budgetSet(40)]
    given(...facts)
      .when(admitCall({ hold: 40n }))
      .then([admitted(40)])
    const details = { remain: '40', needed: '41' }
    given(...facts)
      .when(admitCall({ hold: 41n }))
      .then(codedError('TokenBudgetExhausted', details))
  })

  it('is limited only by the balance if it is unlimited', () => {
    given(...funded(40))
      .when(admitCall({ hold: 40n }))
      .then([admitted(40)])
    const details = { balance: '40', needed: '41' }
    given(...funded(40))
      .when(admitCall({ hold: 41n }))
      .then(codedError('InsufficientQuota', details))
  })

  it('gets back the part of a hold that a call did not cost', () => {
    const facts = [granted(100), budgetSet(50), admitted(40)]
    expect(remainOf(given(...facts).state)).toBe(10n)
    expect(remainOf(given(...facts, settled(40, 30)).state)).toBe(20n)
    expect(remainOf(given(...facts, released(40)).state)).toBe(50n)
  })

  it('falls below zero when a call costs more than its hold, and can be set to that value', () => {
    const facts = [granted(100), budgetSet(40), admitted(40), settled(40, 50)]
    expect(remainOf(given(...facts).state)).toBe(-10n)
    given(...facts)
      .when(setBudget(-10n))
      .then([])
    const open = admitCall({ call: '019376a0-0000-7000-8000-000000000002', hold: 0n })
    const details = { remain: '-10', needed: '0' }
    given(...facts)
      .when(open)
      .then(codedError('TokenBudgetExhausted', details))
  })

  it('gets the unused hold of an open call even after it was set to a new value', () => {
    const facts = [granted(100), budgetSet(40), admitted(40), budgetSet(7), settled(40, 30)]
    expect(remainOf(given(...facts).state)).toBe(17n)
  })

  it('changes by the difference from the value that the client read', () => {
    const facts = [granted(100), budgetsOpened(50, [1]), admitted(40), settled(40, 30)]
    const change = (remain: bigint, expected: bigint, edits = 0) =>
      ({ ...setBudget(remain), expected, edits }) as const
    given(...facts)
      .when(change(70n, 50n))
      .then([budgetSet(40)])
    given(...facts)
      .when(change(45n, 50n))
      .then([budgetSet(15)])
    // The calls have used more than the owner left the token.
    given(...facts)
      .when(change(10n, 50n))
      .then([budgetSet(-20)])
    const moved = codedError('TokenBudgetMoved', { remain: '40', expected: '50' })
    given(...facts, budgetSet(40))
      .when(change(70n, 50n))
      .then(moved)
    given(...facts, budgetSet(40))
      .when(change(70n, 40n, 1))
      .then([budgetSet(70)])
  })

  it('is lowered to at most the requested value when calls returned parts of their holds', () => {
    const facts = [granted(100), budgetsOpened(50, [1]), admitted(40), settled(40, 30)]
    const lower = { ...setBudget(5n), expected: 10n, edits: 0 } as const
    given(...facts)
      .when(lower)
      .then([budgetSet(5)])
    given(...facts)
      .when({ ...lower, remain: 12n })
      .then([budgetSet(22)])
  })

  it('ends the open calls when it is lowered below their holds', () => {
    const facts = [granted(100), budgetsOpened(50, [1]), admitted(40)]
    const lower = (remain: bigint) => ({ ...setBudget(remain), expected: 50n, edits: 0 }) as const
    const exhausted = (remain: bigint) =>
      codedError('TokenBudgetExhausted', { remain: String(remain), needed: '0' })
    for (const [remain, after] of [
      [39n, -1],
      [20n, -20],
      [0n, -40],
    ] as const) {
      given(...facts)
        .when(lower(remain))
        .then([budgetSet(after)])
      given(...facts, budgetSet(after))
        .when(recordProgress)
        .then(exhausted(BigInt(after)))
    }
    given(...facts, settled(40, 40))
      .when(lower(20n))
      .then([budgetSet(-20)])
  })

  it('lets the open calls continue when it is lowered to exactly their holds', () => {
    const facts = [granted(100), budgetsOpened(50, [1]), admitted(40)]
    const { data } = budgetSet(0) as { readonly data: object }
    const kept = { ...budgetSet(0), data: { ...data, keepsCalls: true } } as typeof budgetClosed
    given(...facts)
      .when({ ...setBudget(40n), expected: 50n, edits: 0 })
      .then([kept])
    given(...facts, kept)
      .when(recordProgress)
      .then([progressed(recordProgress.usage)])
  })

  it('lets the open calls continue when an overspent budget is raised', () => {
    const other = '019376a0-0000-7000-8000-000000000002'
    const facts = [
      granted(100),
      budgetsOpened(50, [1]),
      admitted(10),
      admitted(10, { call: other }),
      settled(10, 60, { call: other }),
    ]
    const { data } = budgetSet(-5) as { readonly data: object }
    const kept = { ...budgetSet(-5), data: { ...data, keepsCalls: true } } as typeof budgetClosed
    given(...facts)
      .when({ ...setBudget(45n), expected: 30n, edits: 0 })
      .then([kept])
    given(...facts, kept)
      .when(recordProgress)
      .then([progressed(recordProgress.usage)])
    // A raise that leaves nothing does not revive the calls that a lower budget has ended.
    given(...facts, budgetSet(-20))
      .when({ ...setBudget(45n), expected: 30n, edits: 1 })
      .then([budgetSet(-5)])
  })

  it('bounds the further cost of open calls by what the owner left when lowering it', () => {
    const seen = { kept: 0, ended: 0, exact: 0 }
    const property = fc.property(history, history, fc.bigInt(-5n, 60n), (before, after, target) => {
      const { state } = given(granted(1_000), budgetsOpened(60, [1]))
      const ended = { charge: 0n }
      carryOut(state, before, ended)
      const expected = remainOf(state) ?? 0n
      const left = (target > 0n ? target : 0n) + heldBy(1, state)
      ended.charge = 0n
      carryOut(state, after, ended)
      const command = { ...setBudget(target), expected, edits: 0 } as const
      const wasRaised = target > expected
      if (apply(state, command) === 0) return
      const calls = [...state.open.values()]
      const kept = calls.filter((call) => quotaUsedUpError(call, state) === null)
      const [cost, held] = [sumOfHolds(kept), sumOfHolds(calls)]
      const spendable = left - ended.charge
      if (wasRaised) {
        expect(cost).toBe(held)
        return
      }
      expect(cost).toBeLessThanOrEqual(spendable > 0n ? spendable : 0n)
      // Calls that the owner's budget covers are not ended.
      if (target > 0n && held <= spendable) expect(cost).toBe(held)
      if (held === 0n) return
      if (held === spendable) seen.exact += 1
      seen[cost === held ? 'kept' : 'ended'] += 1
    })
    fc.assert(property, { numRuns: 3_000 })
    for (const [kind, count] of Object.entries(seen)) expect(count, kind).toBeGreaterThan(20)
  })

  it('is set only if it still has the value that the client read', () => {
    const facts = [granted(100), budgetSet(50), admitted(40), settled(40, 30)]
    given(...facts)
      .when({ ...setBudget(50n), expected: 50n })
      .then(codedError('TokenBudgetMoved', { remain: '20', expected: '50' }))
    given(...facts)
      .when({ ...setBudget(20n), expected: 50n })
      .then(codedError('TokenBudgetMoved', { remain: '20', expected: '50' }))
    given(...facts)
      .when({ ...setBudget(50n), expected: 20n })
      .then([budgetSet(50)])
    given(...facts)
      .when({ ...setBudget(20n), expected: 20n })
      .then([])
    given()
      .when({ ...setBudget(5n), expected: 1n })
      .then(codedError('TokenBudgetMoved', { remain: '0', expected: '1' }))
  })

  it('keeps the current remaining quota when only the limit is switched', () => {
    const switchTo = (isUnlimited: boolean) =>
      ({ type: 'SetTokenBudget', userId: USER, tokenId: 1, isUnlimited }) as const
    const limited = [granted(100), budgetSet(50), admitted(40), settled(40, 30)]
    given(...limited)
      .when(switchTo(true))
      .then([budgetSet(20, true)])
    given(...limited)
      .when(switchTo(false))
      .then([])
    const unlimited = [granted(100), budgetSet(20, true), admitted(40), settled(40, 30)]
    given(...unlimited)
      .when(switchTo(false))
      .then([budgetSet(-10)])
  })

  it('keeps the current limit when only the remaining quota is set', () => {
    const set = { type: 'SetTokenBudget', userId: USER, tokenId: 1, remain: 7n } as const
    given(budgetSet(30, true))
      .when(set)
      .then([budgetSet(7, true)])
    given(budgetSet(30))
      .when(set)
      .then([budgetSet(7)])
  })

  it('fits a JSON integer even after all open calls return their holds', () => {
    given()
      .when(setBudget(QUOTA_MAX + 1n))
      .then(codedError('AmountOutOfRange'))
    given()
      .when(setBudget(-QUOTA_MAX - 1n))
      .then(codedError('AmountOutOfRange'))
    const facts = [...funded(100), admitted(40)]
    given(...facts)
      .when(setBudget(QUOTA_MAX - 39n))
      .then(codedError('AmountOutOfRange'))
    const most = Number(QUOTA_MAX) - 40
    given(...facts)
      .when(setBudget(BigInt(most)))
      .then([budgetSet(most)])
  })
})

describe('the budgets of tokens that are created together', () => {
  it('are opened by one event, and each token spends its own', () => {
    given()
      .when(openBudgets([1, 2, 3], 40n))
      .then([budgetsOpened(40, [1, 2, 3])])
    const facts = [granted(100), budgetsOpened(40, [1, 2]), admitted(30), settled(30, 25)]
    const { budgets } = given(...facts).state
    expect([...budgets].map(([id, { remain }]) => [id, remain])).toEqual([
      [1, 15n],
      [2, 40n],
    ])
  })

  it('are opened only for tokens that have none yet; a repeat changes nothing', () => {
    given(budgetsOpened(40, [1, 2]))
      .when(openBudgets([1, 2], 50n))
      .then([])
    given(budgetsOpened(40, [1]))
      .when(openBudgets([1, 2], 50n))
      .then([budgetsOpened(50, [2])])
  })

  it('are all refused if one of them does not fit a JSON integer', () => {
    given()
      .when(openBudgets([1, 2], QUOTA_MAX + 1n))
      .then(codedError('AmountOutOfRange'))
    given(...funded(100), admitted(40), budgetClosed)
      .when(openBudgets([1, 2], QUOTA_MAX - 39n))
      .then(codedError('AmountOutOfRange'))
  })

  it('are closed by one event, which lists only the open ones', () => {
    const closed = { ...budgetClosed, data: { userId: USER, tokenIds: [1, 3] } }
    given(budgetsOpened(40, [1, 2, 3]))
      .when({ ...closeBudget, tokenIds: [1, 9, 3] })
      .then([closed as typeof budgetClosed])
  })
})

describe('a closed budget', () => {
  it('admits no more calls', () => {
    given(...funded(100))
      .when(closeBudget)
      .then([budgetClosed])
    const refusal = codedError('TokenBudgetUnknown', { tokenId: 1 })
    given(...funded(100), budgetClosed)
      .when(admitCall())
      .then(refusal)
    given(granted(100)).when(admitCall()).then(refusal)
  })

  it('is not changed by a second close, and neither is a budget that was never set', () => {
    given(...funded(100), budgetClosed)
      .when(closeBudget)
      .then([])
    given().when(closeBudget).then([])
  })

  it('lets its open calls end, and returns the unused holds to the balance', () => {
    const facts = [...funded(100), admitted(40), budgetClosed, settled(40, 30)]
    const { state } = given(...facts)
    expect(state.balance).toBe(70n)
    expect(state.held).toBe(0n)
    expect(state.budgets.size).toBe(0)
  })
})
