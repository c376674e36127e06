import { describe, expect, it } from 'vitest'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import {
  admitted,
  CALL,
  funded,
  given,
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

describe('progress', () => {
  it('is recorded and renews the lease', () => {
    const outcome = given(...open).when(progress(3))
    outcome.then([progressed(used({ output: 3 }))])
    expect(outcome.after.open.get(CALL)?.leaseUntil).toBe(3_000)
  })

  it('said twice is recorded once; a longer lease or more usage is news', () => {
    const said = given(...open, progressed(used({ output: 3 })))
    said.when(progress(3)).then([])
    said.when(progress(3, 3_001)).then([progressed(used({ output: 3 }), 3_001)])
    said.when(progress(4)).then([progressed(used({ output: 4 }))])
  })

  it('costs nothing as such', () => {
    const { state } = given(...open, progressed(used({ output: 3 })))
    expect(state).toMatchObject({ balance: 60n, held: 40n })
  })

  it('of a call that is over or unknown is refused', () => {
    given(...open, settled(40, 30))
      .when(progress(3))
      .then(codedError('CallEnded'))
    given(...funded(100))
      .when(progress(3))
      .then(codedError('CallUnknown'))
  })
})

describe('interrupting a call', () => {
  it('is refused until its lease is over, to the millisecond', () => {
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

  it('counts from the lease that progress renewed', () => {
    const renewed = given(...open, progressed(used({ output: 3 })))
    renewed.when(interrupt(LEASE + 1)).then(codedError('LeaseNotOver', { leaseUntil: 3_000 }))
    expect(renewed.when(interrupt(3_001)).facts).toHaveLength(1)
  })

  it('charges the last progress, not the sum of all', () => {
    const usage = used({ output: 5 })
    const outcome = given(...open, progressed(used({ output: 3 })), progressed(usage, 3_500)).when(
      interrupt(3_501),
    )
    outcome.then([interrupted(40, 20, { usage, channelId: 5 })])
    expect(outcome.after).toMatchObject({ balance: 80n, held: 0n })
  })

  it('charges nothing where nothing was ever said of it', () => {
    const outcome = given(...open).when(interrupt(LEASE + 1))
    outcome.then([interrupted(40, 0, { usage: NO_USAGE })])
    expect(outcome.after).toMatchObject({ balance: 100n, held: 0n })
  })

  it('charges a price per call once something was delivered', () => {
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

  it('leaves nothing to a settlement that comes too late', () => {
    const late = given(...open, interrupted(40, 0))
    late.when(settleCall()).then([])
    expect(late.state).toMatchObject({ balance: 100n, held: 0n })
  })
})
