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
  PER_TOKEN,
  progressed,
  releaseCall,
  released,
  settleCall,
  settled,
  used,
  wire,
} from './facts.ts'

const open = [...funded(100), admitted(40)]
const perCall = (calls?: number) => [
  ...funded(100),
  admitted(40, calls === undefined ? { price: PER_CALL } : { price: PER_CALL, calls }),
]

describe('settling a call', () => {
  it('charges the usage and gives the rest of the hold back at once', () => {
    const outcome = given(...open).when(settleCall())
    outcome.then([settled(40, 30)])
    expect(outcome.after).toMatchObject({ balance: 70n, held: 0n })
  })

  it('charges in full beyond the hold, below zero by the excess alone', () => {
    const facts = [...funded(40), admitted(40)]
    const usage = used({ inputUncached: 2, output: 12 })
    const outcome = given(...facts).when(settleCall({ usage }))
    outcome.then([settled(40, 50, { usage })])
    expect(outcome.after).toMatchObject({ balance: -10n, held: 0n })
  })

  it('keeps the price it was admitted at, whatever options say by now', () => {
    const price = { ...PER_TOKEN, list: 1, model: '2' }
    const [fact] = given(...funded(100), admitted(40, { price })).when(settleCall()).facts
    expect(fact?.data).toMatchObject({ price, charge: 60 })
  })

  it('says what came of it: the channel, how it ended, what was tried', () => {
    const course = {
      channelId: 9,
      upstreamModel: 'm-1',
      usageSource: 'estimated',
      anomaly: 'negative',
      end: 'client-gone',
    } as const
    given(...open)
      .when(settleCall(course))
      .then([settled(40, 30, course)])
  })

  it('with usage that is no count is a bug, not a charge', () => {
    for (const output of [-1, 0.5, Number.NaN, 2 ** 60]) {
      expect(() => given(...open).when(settleCall({ usage: used({ output }) }))).toThrow()
    }
  })
})

describe('what the provider asks', () => {
  it('is noted beside the charge, and moves nobody’s quota', () => {
    const price = { ...PER_TOKEN, group: '1.5' }
    const facts = [...funded(100), admitted(60, { price })]
    const outcome = given(...facts).when(settleCall({ costRatio: '0.6' }))
    const cost = { costRatio: '0.6', cost: wire(18) }
    outcome.then([settled(60, 45, { price, ...cost })])
    expect(outcome.after).toMatchObject({ balance: 55n, held: 0n })
  })

  it('is unknown, not 0, where nobody said what it charges', () => {
    const [fact] = given(...open).when(settleCall()).facts
    expect(Object.keys(fact?.data ?? {})).not.toContain('cost')
  })

  it('is 0 where it charges nothing', () => {
    const [fact] = given(...open).when(settleCall({ costRatio: '0' })).facts
    expect(fact?.data).toMatchObject({ charge: 30, cost: 0 })
  })

  it('is that of all usage where the account could not pay for all of it', () => {
    const price = { ...PER_TOKEN, group: '1' }
    const usage = used({ output: 50 })
    const limits = { inputTokens: 0, outputTokens: 5 }
    const facts = [...funded(40), admitted(40, { price })]
    const [fact] = given(...facts).when(settleCall({ usage, limits, costRatio: '0.5' })).facts
    const perToken = 4
    expect(fact?.data).toMatchObject({ charge: 40, unpaidUsage: usage, cost: 50 * perToken * 0.5 })
  })

  it('is nothing for a call that was released', () => {
    const [fact] = given(...open).when(releaseCall()).facts
    expect(Object.keys(fact?.data ?? {})).not.toContain('cost')
  })

  it('is that of the last progress where the owner of the call died', () => {
    const usage = used({ output: 5 })
    const noted = progressed(usage, 3_000, '0.5')
    const outcome = given(...open, noted).when({ type: 'InterruptCall', call: CALL, at: 3_001 })
    const place = { channelId: 5, usage, costRatio: '0.5', cost: wire(10) }
    outcome.then([interrupted(40, 20, place)])
  })
})

describe('a price per call', () => {
  const usage = used({ output: 1 })

  it('is charged once per call asked for', () => {
    const once = given(...perCall()).when(settleCall({ usage }))
    once.then([settled(40, 10, { usage, price: PER_CALL })])
    const thrice = given(...perCall(3)).when(settleCall({ usage }))
    thrice.then([settled(40, 30, { usage, price: PER_CALL, calls: 3 })])
  })

  it('is charged for a call that was done without a single token', () => {
    const none = { usage: NO_USAGE, price: PER_CALL }
    const once = given(...perCall()).when(settleCall({ usage: NO_USAGE }))
    once.then([settled(40, 10, { ...none, calls: 1 })])
    const thrice = given(...perCall(3)).when(settleCall({ usage: NO_USAGE }))
    thrice.then([settled(40, 30, { ...none, calls: 3 })])
  })

  it.each(['client-gone', 'upstream-error', 'timeout', 'incomplete'] as const)(
    'is not charged for a call that ended %s with nothing used',
    (end) => {
      const [fact] = given(...perCall(3)).when(settleCall({ usage: NO_USAGE, end })).facts
      expect(fact?.data).toMatchObject({ charge: 0 })
    },
  )
})

describe('releasing a call', () => {
  it('costs nothing and gives the whole hold back', () => {
    const outcome = given(...open).when(releaseCall())
    outcome.then([released(40)])
    expect(outcome.after).toMatchObject({ balance: 100n, held: 0n })
  })

  it('costs nothing even after progress', () => {
    const outcome = given(...open, progressed(used({ output: 3 }))).when(releaseCall())
    outcome.then([released(40)])
  })
})

describe('ending a call', () => {
  const interrupt = { type: 'InterruptCall', call: CALL, at: 9_999 } as const

  it.each([
    ['settled', settled(40, 30)],
    ['released', released(40)],
    ['interrupted', interrupted(40, 0)],
  ])('that was %s changes nothing, whichever way', (_how, end) => {
    const over = given(...open, end)
    over.when(settleCall()).then([])
    over.when(releaseCall()).then([])
    over.when(interrupt).then([])
  })

  it('that was never admitted is refused', () => {
    const account = given(...funded(100))
    account.when(settleCall()).then(codedError('CallUnknown'))
    account.when(releaseCall()).then(codedError('CallUnknown'))
    account.when(interrupt).then(codedError('CallUnknown'))
  })
})
