import { describe, expect, it } from 'vitest'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import {
  admitted,
  budgetSet,
  CALL,
  deducted,
  funded,
  given,
  granted,
  interrupted,
  PER_CALL,
  progressed,
  settleCall,
  settled,
  used,
} from './facts.ts'

const LEASE = 2_000
const open = [...funded(100), admitted(40)]
const interrupt = (at: number) => ({ type: 'InterruptCall', call: CALL, at }) as const
const progress = (output: number, leaseUntil = 3_000) =>
  ({
    type: 'RecordProgress',
    call: CALL,
    channelId: 5,
    usage: used({ output }),
    leaseUntil,
  }) as const

describe('the progress of a call', () => {
  it('is recorded and renews the lease', () => {
    const outcome = given(...open).when(progress(3))
    outcome.then([progressed(used({ output: 3 }))])
    expect(outcome.after.open.get(CALL)?.leaseUntil).toBe(3_000)
  })

  it('is recorded again only if the usage or the lease has grown', () => {
    const said = given(...open, progressed(used({ output: 3 })))
    said.when(progress(3)).then([])
    said.when(progress(3, 3_001)).then([progressed(used({ output: 3 }), 3_001)])
    said.when(progress(4)).then([progressed(used({ output: 4 }))])
  })

  it('changes neither the balance nor the hold', () => {
    const { state } = given(...open, progressed(used({ output: 3 })))
    expect(state).toMatchObject({ balance: 60n, held: 40n })
  })

  it('is refused if the call has ended or is unknown', () => {
    given(...open, settled(40, 30))
      .when(progress(3))
      .then(codedError('CallEnded'))
    given(...funded(100))
      .when(progress(3))
      .then(codedError('CallUnknown'))
  })
})

describe('the progress of a call whose account or token has nothing left', () => {
  const OTHER = '019376a0-0000-7000-8000-000000000002'
  const emptied = codedError('InsufficientQuota', { balance: '0', needed: '0' })
  const exhausted = (remain: string) => codedError('TokenBudgetExhausted', { remain, needed: '0' })
  const limited = [granted(100), budgetSet(70), admitted(40)]

  it('is refused once an admin has deducted all quota that no call holds', () => {
    given(...open, deducted(60))
      .when(progress(3))
      .then(emptied)
    given(...open, deducted(59))
      .when(progress(3))
      .then([progressed(used({ output: 3 }))])
  })

  it('is refused once the token’s budget is set to 0 or below', () => {
    given(...limited, budgetSet(0))
      .when(progress(3))
      .then(exhausted('0'))
    given(...limited, budgetSet(-5))
      .when(progress(3))
      .then(exhausted('-5'))
    given(...open, budgetSet(0))
      .when(progress(3))
      .then(exhausted('0'))
  })

  it('is recorded if only holds use up the budget, or if the budget is set above 0', () => {
    const recorded = [progressed(used({ output: 3 }))]
    const used40 = [granted(100), budgetSet(40), admitted(40)]
    given(...used40)
      .when(progress(3))
      .then(recorded)
    given(...limited, budgetSet(1))
      .when(progress(3))
      .then(recorded)
    given(...limited, budgetSet(0, true))
      .when(progress(3))
      .then(recorded)
    given(...limited, budgetSet(0), budgetSet(1))
      .when(progress(3))
      .then(recorded)
    given(...limited, budgetSet(0, false, 2))
      .when(progress(3))
      .then(recorded)
  })

  it('is recorded for a call that holds nothing, or that pays for a task', () => {
    const recorded = [progressed(used({ output: 3 }))]
    const takings = [deducted(100), budgetSet(0)]
    given(...funded(100), admitted(0), ...takings)
      .when(progress(3))
      .then(recorded)
    given(...funded(100), admitted(40, { isTask: true }), deducted(60), budgetSet(0))
      .when(progress(3))
      .then(recorded)
  })

  it('is recorded for a call that was admitted later from a returned hold', () => {
    const first = admitted(40, { call: OTHER })
    const ended = settled(40, 10, { call: OTHER })
    for (const facts of [
      [...funded(100), first, deducted(60)],
      [...funded(100), first, budgetSet(0)],
    ]) {
      given(...facts, ended, admitted(30))
        .when(progress(3))
        .then([progressed(used({ output: 3 }))])
    }
  })

  it('stays refused for the other calls when one call returns its hold', () => {
    const both = [...funded(100), admitted(40), admitted(40, { call: OTHER })]
    const ended = settled(40, 10, { call: OTHER })
    given(...both, deducted(20), ended)
      .when(progress(3))
      .then(codedError('InsufficientQuota', { balance: '30', needed: '0' }))
    given(...both, budgetSet(0), ended)
      .when(progress(3))
      .then(exhausted('30'))
  })

  it('is recorded again after the account receives a grant', () => {
    given(...open, deducted(60), granted(1, 'g2'))
      .when(progress(3))
      .then([progressed(used({ output: 3 }))])
  })
})

describe('the interruption of a call', () => {
  it('has the formats of the last recorded progress', () => {
    const formats = ['chat', 'messages'] as const
    const [event] = given(...open).when({ ...progress(3), formats }).facts
    expect(event).toMatchObject({ type: 'CallProgressed', data: { formats } })
    const renewed = given(...open, event as ReturnType<typeof progressed>)
    expect(renewed.when(interrupt(3_001)).facts).toMatchObject([{ data: { formats } }])
  })

  it('is refused until 1 ms after the end of the call’s lease', () => {
    const refusal = codedError('LeaseNotOver', { leaseUntil: LEASE })
    given(...open)
      .when(interrupt(LEASE - 1))
      .then(refusal)
    given(...open)
      .when(interrupt(LEASE))
      .then(refusal)
    given(...open)
      .when(interrupt(LEASE + 1))
      .then([interrupted(40, 0)])
  })

  it('is refused until the lease that progress renewed has ended', () => {
    const renewed = given(...open, progressed(used({ output: 3 })))
    renewed.when(interrupt(LEASE + 1)).then(codedError('LeaseNotOver', { leaseUntil: 3_000 }))
    expect(renewed.when(interrupt(3_001)).facts).toHaveLength(1)
  })

  it('charges the last reported usage, not the sum of all reports', () => {
    const usage = used({ output: 5 })
    const outcome = given(...open, progressed(used({ output: 3 })), progressed(usage, 3_500)).when(
      interrupt(3_501),
    )
    outcome.then([interrupted(40, 20, { usage, channelId: 5 })])
    expect(outcome.after).toMatchObject({ balance: 80n, held: 0n })
  })

  it('charges nothing for a call that reported no progress', () => {
    const outcome = given(...open).when(interrupt(LEASE + 1))
    outcome.then([interrupted(40, 0, { usage: NO_USAGE })])
    expect(outcome.after).toMatchObject({ balance: 100n, held: 0n })
  })

  it('charges a price per call only if something was delivered', () => {
    const priced = { price: PER_CALL, calls: 3 }
    const facts = [...funded(100), admitted(40, priced)]
    given(...facts)
      .when(interrupt(LEASE + 1))
      .then([interrupted(40, 0, { price: PER_CALL })])
    const usage = used({ output: 1 })
    const change = { usage, channelId: 5, ...priced }
    given(...facts, progressed(usage))
      .when(interrupt(3_001))
      .then([interrupted(40, 30, change)])
  })

  it.each([
    [3, 1, 10],
    [1, 3, 30],
    [3, 3, 30],
  ])('charges a price per call for what was sent: %d admitted, %d sent', (calls, sent, charge) => {
    const usage = used({ output: 1 })
    const admittedFacts = [...funded(100), admitted(40, { price: PER_CALL, calls })]
    const command = {
      type: 'RecordProgress',
      call: CALL,
      channelId: 5,
      usage,
      calls: sent,
    } as const
    const { facts } = given(...admittedFacts).when({ ...command, leaseUntil: 3_000 })
    expect(JSON.parse(JSON.stringify(facts[0])).data.calls).toBe(sent === calls ? undefined : sent)
    const [end] = given(...admittedFacts, ...facts).when(interrupt(3_001)).facts
    expect(end?.data).toMatchObject({ charge })
  })

  it('makes a later settlement change nothing', () => {
    const late = given(...open, interrupted(40, 0))
    late.when(settleCall()).then([])
    expect(late.state).toMatchObject({ balance: 100n, held: 0n })
  })
})
