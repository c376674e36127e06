import { describe, expect, it } from 'vitest'
import type { Served } from '#domain/accounts/events.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import { admitted, CALL, funded, given, progressed, settleCall, used } from './facts.ts'

const HALF_PRICE = perTokenPrice({ model: '0.5', completion: '4' })
const SERVED: Served = { model: 'fallback', group: 'vip', price: HALF_PRICE }
const REQUESTED = { model: 'm', group: 'default' }
const open = [...funded(100), admitted(40)]

describe('a call that is served with another model or group than its admission named', () => {
  it('is charged at the price with which it was served, and keeps what was requested', () => {
    const usage = used({ inputUncached: 10, output: 5 })
    const outcome = given(...open).when(settleCall({ usage, served: SERVED }))
    const [fact] = outcome.facts
    expect(fact?.data).toMatchObject({ ...SERVED, requested: REQUESTED, charge: 15, hold: 40 })
    expect(fact?.data).not.toHaveProperty('served')
    expect(outcome.after).toMatchObject({ balance: 85n, held: 0n })
  })

  it('is charged only as far as the account can pay, at the price of what served it', () => {
    const usage = used({ inputUncached: 400 })
    const limits = { inputTokens: 10, outputTokens: 0 }
    const outcome = given(...open).when(settleCall({ usage, limits, served: SERVED }))
    expect(outcome.facts[0]?.data).toMatchObject({ charge: 100, unpaidUsage: usage })
    expect(outcome.after).toMatchObject({ balance: 0n, held: 0n })
  })

  it('is charged at the same price if its relay dies', () => {
    const progress = progressed(used({ inputUncached: 20 }))
    const facts = [...open, { ...progress, data: { ...progress.data, served: SERVED } }]
    const outcome = given(...facts).when({ type: 'InterruptCall', call: CALL, at: 9_000 })
    expect(outcome.facts[0]?.data).toMatchObject({ ...SERVED, requested: REQUESTED, charge: 10 })
    expect(outcome.after).toMatchObject({ balance: 90n, held: 0n })
  })
})
