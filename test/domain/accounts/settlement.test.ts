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

describe('the settlement of a call', () => {
  it('charges the usage and returns the rest of the hold at once', () => {
    const outcome = given(...open).when(settleCall())
    outcome.then([settled(40, 30)])
    expect(outcome.after).toMatchObject({ balance: 70n, held: 0n })
  })

  it('charges usage beyond the hold in full; the balance falls below zero by the excess', () => {
    const facts = [...funded(40), admitted(40)]
    const usage = used({ inputUncached: 2, output: 12 })
    const outcome = given(...facts).when(settleCall({ usage }))
    outcome.then([settled(40, 50, { usage })])
    expect(outcome.after).toMatchObject({ balance: -10n, held: 0n })
  })

  it('uses the price of the admission, even if options have changed since', () => {
    const price = { ...PER_TOKEN, list: 1, model: '2' }
    const [fact] = given(...funded(100), admitted(40, { price })).when(settleCall()).facts
    expect(fact?.data).toMatchObject({ price, charge: 60 })
  })

  it('records the channel, the upstream model, the end and any anomaly of the call', () => {
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

  it('throws if a usage number is not a valid count, because that is a bug', () => {
    for (const output of [-1, 0.5, Number.NaN, 2 ** 60]) {
      expect(() => given(...open).when(settleCall({ usage: used({ output }) }))).toThrow()
    }
  })
})

describe('the cost that the provider charges for a call', () => {
  it('is recorded beside the charge and does not change any balance', () => {
    const price = { ...PER_TOKEN, group: '1.5' }
    const facts = [...funded(100), admitted(60, { price })]
    const outcome = given(...facts).when(settleCall({ costRatio: '0.6' }))
    const cost = { costRatio: '0.6', cost: wire(18) }
    outcome.then([settled(60, 45, { price, ...cost })])
    expect(outcome.after).toMatchObject({ balance: 55n, held: 0n })
  })

  it('is absent, not 0, if the channel has no cost ratio', () => {
    const [fact] = given(...open).when(settleCall()).facts
    expect(Object.keys(fact?.data ?? {})).not.toContain('cost')
  })

  it('is 0 if the channel’s cost ratio is 0', () => {
    const [fact] = given(...open).when(settleCall({ costRatio: '0' })).facts
    expect(fact?.data).toMatchObject({ charge: 30, cost: 0 })
  })

  it('covers all usage, even if the account could not pay for all of it', () => {
    const price = { ...PER_TOKEN, group: '1' }
    const usage = used({ output: 50 })
    const limits = { inputTokens: 0, outputTokens: 5 }
    const facts = [...funded(40), admitted(40, { price })]
    const [fact] = given(...facts).when(settleCall({ usage, limits, costRatio: '0.5' })).facts
    const perToken = 4
    expect(fact?.data).toMatchObject({ charge: 40, unpaidUsage: usage, cost: 50 * perToken * 0.5 })
  })

  it('is absent for a released call', () => {
    const [fact] = given(...open).when(releaseCall()).facts
    expect(Object.keys(fact?.data ?? {})).not.toContain('cost')
  })

  it('is that of the last progress if the call is interrupted', () => {
    const usage = used({ output: 5 })
    const noted = progressed(usage, 3_000, '0.5')
    const outcome = given(...open, noted).when({ type: 'InterruptCall', call: CALL, at: 3_001 })
    const place = { channelId: 5, usage, costRatio: '0.5', cost: wire(10) }
    outcome.then([interrupted(40, 20, place)])
  })
})

describe('a price per call', () => {
  const usage = used({ output: 1 })

  it('is charged once per requested call', () => {
    const once = given(...perCall()).when(settleCall({ usage }))
    once.then([settled(40, 10, { usage, price: PER_CALL })])
    const thrice = given(...perCall(3)).when(settleCall({ usage }))
    thrice.then([settled(40, 30, { usage, price: PER_CALL, calls: 3 })])
  })

  it.each([
    [undefined, 3, 30],
    [3, 1, 10],
  ])('is charged for the calls that were sent: %s admitted, %d sent', (...counts) => {
    const [requested, calls, charge] = counts
    const outcome = given(...perCall(requested)).when(settleCall({ usage, calls }))
    const several = calls === 1 ? {} : { calls }
    outcome.then([settled(40, charge, { usage, price: PER_CALL, ...several })])
  })

  it('is charged for the calls of a batch’s lines, and never again by the calls sent', () => {
    const billed = { lines: 2, charge: 25n }
    const [fact] = given(...perCall(3)).when(settleCall({ usage, billed, calls: 1 })).facts
    expect(fact?.data).toMatchObject({ charge: 25, calls: 3 })
  })

  it('is charged for a call that succeeded without using any token', () => {
    const none = { usage: NO_USAGE, price: PER_CALL }
    const once = given(...perCall()).when(settleCall({ usage: NO_USAGE }))
    once.then([settled(40, 10, { ...none, calls: 1 })])
    const thrice = given(...perCall(3)).when(settleCall({ usage: NO_USAGE }))
    thrice.then([settled(40, 30, { ...none, calls: 3 })])
  })

  it.each(['client-gone', 'upstream-error', 'timeout', 'incomplete'] as const)(
    'is not charged for a call that ended with %s and no usage',
    (end) => {
      const [fact] = given(...perCall(3)).when(settleCall({ usage: NO_USAGE, end })).facts
      expect(fact?.data).toMatchObject({ charge: 0 })
    },
  )
})

describe('a price per image', () => {
  const price = { ...PER_CALL, imageFactor: '1' } as const
  const requested = (calls: number) => [...funded(100), admitted(40, { price, calls })]
  const chargeOf = (calls: number, images: number, end: 'done' | 'client-gone' = 'done') => {
    const usage = used({ images, inputUncached: 5 })
    const [fact] = given(...requested(calls)).when(settleCall({ usage, end })).facts
    return fact?.data
  }

  it('is charged for each delivered image', () => {
    expect(chargeOf(3, 3)).toMatchObject({ charge: 30, calls: 3, price })
    expect(chargeOf(3, 2)).toMatchObject({ charge: 20, calls: 2 })
    expect(chargeOf(3, 0)).toMatchObject({ charge: 0, calls: 0 })
  })

  it('is not charged for more images than were requested', () => {
    expect(chargeOf(1, 4)).toMatchObject({ charge: 10 })
  })

  it('is charged for the images that a cut call delivered', () => {
    expect(chargeOf(3, 1, 'client-gone')).toMatchObject({ charge: 10 })
  })
})

describe('the release of a call', () => {
  it('charges nothing and returns the whole hold', () => {
    const outcome = given(...open).when(releaseCall())
    outcome.then([released(40)])
    expect(outcome.after).toMatchObject({ balance: 100n, held: 0n })
  })

  it('charges nothing even after progress', () => {
    const outcome = given(...open, progressed(used({ output: 3 }))).when(releaseCall())
    outcome.then([released(40)])
  })
})

describe('the end of a call', () => {
  const interrupt = { type: 'InterruptCall', call: CALL, at: 9_999 } as const

  it.each([
    ['settled', settled(40, 30)],
    ['released', released(40)],
    ['interrupted', interrupted(40, 0)],
  ])('changes nothing if the call was already %s, whichever way it ends', (_how, end) => {
    const over = given(...open, end)
    over.when(settleCall()).then([])
    over.when(releaseCall()).then([])
    over.when(interrupt).then([])
  })

  it('is refused if the call was never admitted', () => {
    const account = given(...funded(100))
    account.when(settleCall()).then(codedError('CallUnknown'))
    account.when(releaseCall()).then(codedError('CallUnknown'))
    account.when(interrupt).then(codedError('CallUnknown'))
  })
})
