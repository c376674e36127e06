import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import type { AccountEvent } from '#domain/accounts/events.ts'
import { accountSnapshot } from '#domain/accounts/snapshot.ts'
import type { AccountState } from '#domain/accounts/state.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import { type Operation, operations, USER } from './random-operations.ts'
import { ReferenceAccount, type Verdict } from './reference-account.ts'

const RUNS = 1_000
const ENDS = new Set(['CallSettled', 'CallReleased', 'CallInterrupted'])

/** Returns the value as a store would return it. */
const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
const text = (state: AccountState): string => JSON.stringify(accountSnapshot.encode(state))
const replay = (events: readonly AccountEvent[], from = accountDecider.initialState()) =>
  events.reduce(accountDecider.evolve, from)

/** Runs the product's account and the reference account, and compares them after each step. */
class Run {
  state = accountDecider.initialState()
  readonly reference = new ReferenceAccount()
  readonly events: AccountEvent[] = []
  wasOverdrawn = false
  private readonly commands: AccountCommand[] = []
  private readonly ledger = new Map<string, bigint>()
  private kept: { readonly text: string; readonly events: number } | null = null

  step(operation: Operation): void {
    switch (operation.kind) {
      case 'command':
        return this.handle(operation.command)
      case 'repeat': {
        const command = this.commands[operation.index % this.commands.length]
        return command === undefined ? undefined : this.handle(command)
      }
      case 'snapshot':
        this.kept = { text: text(this.state), events: this.events.length }
        return
      case 'crash':
        this.state = operation.from === 'events' ? replay(this.events) : this.fromSnapshot()
        this.compare()
    }
  }

  handle(command: AccountCommand): void {
    this.commands.push(command)
    const before = text(this.state)
    const { balance } = this.state
    const outcome = accountDecider.decide(command, this.state)
    expect(text(this.state), 'deciding changes nothing').toBe(before)
    const verdict = this.reference.apply(command)
    expect(verdictOf(outcome), command.type).toEqual(verdict)
    if (isCodedError(outcome)) return
    for (const event of outcome.map(stored)) {
      this.events.push(event)
      this.state = accountDecider.evolve(this.state, event)
      this.post(event)
      this.checkBalancesAfter(event)
      this.checkMovement(event, balance)
    }
    this.compare()
  }

  private fromSnapshot(): AccountState {
    if (this.kept === null) return replay(this.events)
    const { text: snapshot, events } = this.kept
    return replay(this.events.slice(events), accountSnapshot.decode(JSON.parse(snapshot)))
  }

  /** An event that changes the balance or the held quota names both, as they are after it. */
  private checkBalancesAfter({ data }: AccountEvent): void {
    if (!('postings' in data)) return
    const own = [`user:${USER}:main`, `user:${USER}:held`]
    const isChange = data.postings.some(([account]) => own.includes(account))
    const { balance, held } = this.state
    expect([data.balanceAfter, data.heldAfter]).toEqual(
      isChange ? [Number(balance), Number(held)] : [undefined, undefined],
    )
    if (isChange)
      expect(own.map((account) => this.ledger.get(account) ?? 0n)).toEqual([balance, held])
  }

  private post(event: AccountEvent): void {
    if (!('postings' in event.data)) return
    const { postings } = event.data
    expect(postings.reduce((sum, [, amount]) => sum + BigInt(amount), 0n)).toBe(0n)
    for (const [account, amount] of postings) {
      this.ledger.set(account, (this.ledger.get(account) ?? 0n) + BigInt(amount))
    }
  }

  /**
   * Only charges above holds and refunds may make the balance negative. No other amount may become
   * negative.
   */
  private checkMovement({ type, data }: AccountEvent, before: bigint): void {
    const { balance } = this.state
    if (type === 'CallAdmitted' || type === 'HoldRaised' || type === 'QuotaDeducted') {
      expect(balance >= 0n, `${type} leaves ${balance}`).toBe(true)
    } else if (type === 'CallSettled' || type === 'CallInterrupted') {
      const excess = BigInt(data.charge) - BigInt(data.hold)
      expect(before - balance, `${type} of ${data.call}`).toBe(excess)
    } else if (type === 'TopUpReversed') {
      expect(before - balance, type).toBe(BigInt(data.amount))
    } else if (type === 'RebateReversed') {
      expect(before - balance, type).toBe(BigInt(data.fromBalance ?? 0))
    } else expect(balance >= before, `${type} lowers the balance`).toBe(true)
  }

  private compare(): void {
    const { state, reference, ledger } = this
    expect(state.balance).toBe(reference.balance)
    expect(state.held).toBe(reference.held)
    expect(state.affiliate).toBe(reference.affiliate)
    expect(state.affiliate >= 0n, 'more transferred or taken than there was').toBe(true)
    expect(state.balance >= -reference.excess, 'overdrawn').toBe(true)
    if (state.balance < 0n) this.wasOverdrawn = true
    expect([...state.open.keys()]).toEqual(reference.open.map(([call]) => call))
    expect([...state.budgets.keys()].sort()).toEqual(reference.tokenIds.sort())
    for (const [tokenId, { remain, isUnlimited, edits }] of state.budgets) {
      expect(remain, `token ${tokenId}`).toBe(reference.remain(tokenId))
      expect(isUnlimited).toBe(reference.isUnlimited(tokenId))
      expect(edits).toBe(reference.editsOf(tokenId))
    }
    expect(ledger.get(`user:${USER}:main`) ?? 0n).toBe(state.balance)
    expect(ledger.get(`user:${USER}:held`) ?? 0n).toBe(state.held)
    expect(ledger.get(`user:${USER}:aff`) ?? 0n).toBe(state.affiliate)
    expect(ledger.get('revenue') ?? 0n).toBe(reference.charged)
  }

  /** Ends all remaining calls, so that no hold is left. */
  finish(): void {
    expect(text(replay(this.events))).toBe(text(this.state))
    for (const [call] of this.reference.open) {
      this.handle({ type: 'InterruptCall', call, at: 2_000 })
    }
    expect(this.state.held).toBe(0n)
    const ends = this.events.filter(({ type }) => ENDS.has(type))
    const ended = ends.map(({ data }) => ('call' in data ? data.call : ''))
    expect(new Set(ended).size, 'a call ended twice').toBe(ended.length)
    expect(ended.length).toBe(this.events.filter(({ type }) => type === 'CallAdmitted').length)
    expect([...this.ledger.values()].reduce((sum, amount) => sum + amount, 0n)).toBe(0n)
  }
}

function verdictOf(outcome: ReturnType<typeof accountDecider.decide>): Verdict {
  if (isCodedError(outcome)) return { code: outcome.code }
  const [event] = outcome
  if (event === undefined) return { nothing: true }
  expect(outcome.length, 'one fact, one event').toBe(1)
  return event.type === 'CallSettled' || event.type === 'CallInterrupted'
    ? { event: event.type, charge: BigInt(event.data.charge) }
    : { event: event.type }
}

describe('an account after a random sequence of operations', () => {
  const seen = new Map<string, number>()

  it('matches the reference model, is not overdrawn and leaks no hold', () => {
    const property = fc.property(operations, (all) => {
      const run = new Run()
      for (const operation of all) run.step(operation)
      run.finish()
      const count = (kind: string) => seen.set(kind, (seen.get(kind) ?? 0) + 1)
      for (const { type, data } of run.events) {
        count(type)
        if ('fromBalance' in data) count('a rebate owed')
        if (type === 'CallAdmitted' && data.outputLimit !== undefined) count('a smaller limit')
        if ('unpaidUsage' in data) count('usage unpaid')
      }
      if (run.wasOverdrawn) seen.set('overdrawn', (seen.get('overdrawn') ?? 0) + 1)
    })
    fc.assert(property, { numRuns: RUNS })
  }, 300_000)

  it('has recorded each kind of event at least once, debts included', () => {
    const quota = ['QuotaGranted', 'QuotaDeducted']
    const rewards = ['InviteRewarded', 'AffiliateTransferred', 'CheckedIn']
    const topUps = [
      'TopUpCredited',
      'TopUpReversed',
      'RebateEarned',
      'RebateReversed',
      'a rebate owed',
    ]
    const budgets = ['TokenBudgetSet', 'TokenBudgetsOpened', 'TokenBudgetsClosed']
    const calls = ['CallAdmitted', 'CallProgressed', 'HoldRaised', ...ENDS, 'overdrawn']
    const limited = ['a smaller limit', 'usage unpaid']
    for (const kind of [...quota, ...rewards, ...topUps, ...budgets, ...calls])
      expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(50)
    for (const kind of limited) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(10)
  })
})
