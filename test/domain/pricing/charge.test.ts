import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CHARGE_MAX,
  chargeFor,
  costFor,
  isCountable,
  savedByCache,
} from '#domain/pricing/charge.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type Usage, type UsageCount } from '#domain/pricing/usage.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import { exactCharge, recomputedCharge } from './independent-charge.ts'
import { calls, perCall, perToken, usage } from './random-prices-and-usage.ts'

const price = fc.oneof<fc.Arbitrary<PriceSnapshot>[]>(perToken, perCall)
const used = (change: Partial<Usage>): Usage => ({ ...NO_USAGE, ...change })
const FLAT: PriceSnapshot = perTokenPrice({ list: 0 })

describe('a charge', () => {
  it('equals the result of an independent implementation, to the unit', () => {
    const property = fc.property(price, usage, calls, (terms, counted, n) => {
      const event = JSON.parse(JSON.stringify({ price: terms, usage: counted, calls: n }))
      const charge = chargeFor(terms, counted, n)
      expect(recomputedCharge(event.price, event.usage, event.calls)).toBe(charge)
      expect(recomputedCharge(terms, counted, undefined)).toBe(chargeFor(terms, counted))
    })
    fc.assert(property, { numRuns: 500 })
  })

  it('is an integer from 0 to the maximum charge', () => {
    const property = fc.property(price, usage, calls, (terms, counted, n) => {
      const charge = chargeFor(terms, counted, n)
      expect(typeof charge).toBe('bigint')
      expect(charge >= 0n && charge <= CHARGE_MAX).toBe(true)
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('is at least 1 if the call costs anything, and 0 otherwise', () => {
    const property = fc.property(price, usage, calls, (terms, counted, n) => {
      const [amount] = exactCharge(terms, counted, n)
      expect(chargeFor(terms, counted, n) > 0n).toBe(amount > 0n)
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('is 0 without usage, whatever the price', () => {
    fc.assert(fc.property(price, (terms) => chargeFor(terms, NO_USAGE) === 0n))
  })

  const parts = [
    { inputUncached: 1 },
    { cacheRead: 1 },
    { cacheWrite5m: 1 },
    { cacheWrite1h: 1 },
    { inputImage: 1 },
    { inputAudio: 1 },
    { output: 1 },
    { output: 1, outputAudio: 1 },
    { output: 1, outputImage: 1 },
  ] as const

  it.each(parts)('never falls when usage grows by %j', (part) => {
    const property = fc.property(perToken, usage, fc.nat(5_000), (terms, counted, more) => {
      const grown = { ...counted }
      for (const key of Object.keys(part) as UsageCount[]) {
        Object.assign(grown, { [key]: (counted[key] ?? 0) + more })
      }
      expect(chargeFor(terms, grown) >= chargeFor(terms, counted)).toBe(true)
    })
    fc.assert(property)
  })

  it('is not affected by counts that have no price', () => {
    const counted = used({ inputUncached: 10 })
    const others = { reasoning: 9, toolCalls: 9, images: 9, seconds: 9, characters: 9 }
    expect(chargeFor(FLAT, { ...counted, ...others })).toBe(10n)
  })

  it('is never reduced by audio output beyond the total output', () => {
    expect(chargeFor(FLAT, used({ output: 5, outputAudio: 9 }))).toBe(9n)
  })

  it('is never reduced by images beyond the total output', () => {
    expect(chargeFor(FLAT, used({ output: 5, outputAudio: 2, outputImage: 9 }))).toBe(11n)
  })

  it('is the same for images and text if images have no price', () => {
    const price = { ...FLAT, completion: '4' }
    expect(chargeFor(price, used({ output: 9, outputImage: 5 }))).toBe(36n)
    expect(chargeFor({ ...price, imageCompletion: '0' }, used({ output: 9, outputImage: 5 }))).toBe(
      16n,
    )
  })

  it('stops at the maximum charge for absurd numbers', () => {
    const absurd = { ...FLAT, model: '999999999999', group: '999999999999' }
    expect(chargeFor(absurd, used({ output: Number.MAX_SAFE_INTEGER }))).toBe(CHARGE_MAX)
    expect(CHARGE_MAX).toBe(10n ** 12n)
  })
})

describe('usage with an invalid count', () => {
  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5' as unknown as number])(
    '%s is refused for every kind of price',
    (output) => {
      const wrong = used({ output })
      expect(isCountable(wrong)).toBe(false)
      const byCall: PriceSnapshot = { mode: 'call', list: 0, price: '1', group: '1' }
      for (const terms of [FLAT, byCall]) expect(() => chargeFor(terms, wrong)).toThrow()
    },
  )

  it('is refused for each kind of count', () => {
    for (const key of [...Object.keys(NO_USAGE), 'outputImage']) {
      expect(isCountable(used({ [key]: -1 })), key).toBe(false)
    }
  })
})

describe('a price per call', () => {
  const terms: PriceSnapshot = { mode: 'call', list: 0, price: '0.04', group: '0.8' }

  it('is charged for each of n calls, and once by default', () => {
    expect(chargeFor(terms, used({ output: 1 }))).toBe(16_000n)
    expect(chargeFor(terms, used({ output: 1 }), 128)).toBe(128n * 16_000n)
    expect(chargeFor(terms, NO_USAGE, 1)).toBe(16_000n)
    expect(chargeFor(terms, used({ output: 1 }), 0)).toBe(0n)
  })

  it.each([-1, 129, 1.5, Number.NaN])('is refused for %s calls', (n) => {
    expect(() => chargeFor(terms, used({ output: 1 }), n)).toThrow('0 to 128 calls')
  })

  it('is rounded once at the end, not once per call', () => {
    const third = { ...terms, price: '0.000001', group: '0.7' }
    expect(chargeFor(third, used({ output: 1 }), 1)).toBe(1n)
    expect(chargeFor(third, used({ output: 1 }), 10)).toBe(4n)
  })
})

describe('the provider’s cost of a call', () => {
  const FREE = { ...FLAT, group: '0' }
  const DEAR = { ...FLAT, group: '1.5' }
  const CALLS: PriceSnapshot = { mode: 'call', list: 0, price: '0.04', group: '0.8' }

  it.each<[PriceSnapshot, tokens: number, calls: number, ratio: string, cost: bigint]>([
    [FLAT, 1_000, 1, '0.6', 600n],
    // The group ratio is set by the site and does not affect the provider's cost.
    [DEAR, 1_000, 1, '0.6', 600n],
    [FREE, 1_000, 1, '0.6', 600n],
    [CALLS, 1, 3, '0.5', 30_000n],
    [CALLS, 0, 1, '1', 20_000n],
    // The cost is rounded once, at the end, half away from zero.
    [FLAT, 5, 1, '0.5', 3n],
    [FLAT, 5, 1, '0.499999', 2n],
    [{ ...FLAT, model: '0.25' }, 10, 1, '0.6', 2n],
    [{ ...FLAT, model: '0.25' }, 5, 1, '0.999999', 1n],
    // A cost above 0 is at least 1, and a cost of 0 stays 0.
    [FLAT, 1, 1, '0.000001', 1n],
    [FLAT, 0, 0, '1000', 0n],
    [FLAT, 1_000, 1, '0', 0n],
    [{ ...FLAT, model: '999999999999' }, 10, 1, '1000', CHARGE_MAX],
  ])('is, for price %o, %d tokens, %d calls and ratio %s, %d', (price, output, n, ratio, cost) => {
    expect(costFor(price, used({ output }), n, ratio)).toBe(cost)
  })

  it('equals the charge of a group with the same ratio', () => {
    const ratios = fc.integer({ min: 0, max: 2_000_000 }).map((millionths) => `${millionths}e-6`)
    const property = fc.property(price, usage, calls, ratios, (terms, counted, n, ratio) => {
      const asked = costFor(terms, counted, n, ratio)
      expect(asked).toBe(chargeFor({ ...terms, group: ratio }, counted, n))
    })
    fc.assert(property, { numRuns: 200 })
  })
})

describe('the provider’s tools', () => {
  const searched = (web_search: number) => used({ toolCalls: web_search, tools: { web_search } })
  const priced = (web_search: string, group = '1') => ({ ...FLAT, group, tools: { web_search } })

  it('cost nothing if unused, and at least 1 if used', () => {
    expect(chargeFor(priced('10'), NO_USAGE)).toBe(0n)
    expect(chargeFor(priced('0.0001'), searched(1))).toBe(1n)
    expect(chargeFor(priced('25', '0.5'), searched(1))).toBe(6_250n)
    expect(() => chargeFor(priced('10'), searched(-1))).toThrow()
    expect(() => chargeFor(priced('10'), searched(0.5))).toThrow()
  })

  it('are charged beside tokens and beside a price per call, rounded once', () => {
    const tools = { web_search: '0.0005' }
    const both = { ...searched(1), inputUncached: 1 }
    expect(chargeFor({ ...FLAT, model: '0.25', tools }, both)).toBe(1n)
    const call: PriceSnapshot = { mode: 'call', list: 0, price: '0.04', group: '0.5', tools }
    expect(chargeFor(call, { ...both, tools: { web_search: 8 } }, 2)).toBe(20_001n)
  })

  it('cost nothing if the price does not name them', () => {
    expect(chargeFor(FLAT, searched(9))).toBe(0n)
    expect(chargeFor(priced('10'), used({ toolCalls: 1, tools: { file_search: 1 } }))).toBe(0n)
  })

  it('are part of the provider’s cost, without the group ratio', () => {
    expect(costFor(priced('10', '7'), searched(2), 1, '0.5')).toBe(5_000n)
  })
})

describe('context tiers', () => {
  const tiers = [
    { above: 200_000, input: '2', output: '1.5' },
    { above: 500_000, input: '4', output: '3' },
  ]
  const price = { ...FLAT, completion: '8', cacheRead: '0.1', tiers }

  it.each([
    [200_000, 10, 200_000n + 80n],
    [200_001, 10, 400_002n + 120n],
    [500_000, 10, 1_000_000n + 120n],
    [500_001, 10, 2_000_004n + 240n],
  ])('apply to the whole call above %d input tokens', (inputUncached, output, charge) => {
    expect(chargeFor(price, used({ inputUncached, output }))).toBe(charge)
  })

  it('count input tokens of every kind, and multiply each of them', () => {
    const usage = used({ inputUncached: 1, cacheRead: 200_000, output: 10 })
    expect(chargeFor(price, usage)).toBe(40_002n + 120n)
  })
})

describe('what the cache saved', () => {
  const cached = perTokenPrice({ model: '2', cacheRead: '0.1', cacheWrite: '1.25', group: '0.5' })

  it('is the difference to ordinary input, at the price of the event', () => {
    expect(savedByCache(cached, used({ cacheRead: 1_000, output: 7 }))).toBe(900n)
    expect(savedByCache(cached, used({ cacheRead: 1_000, cacheWrite5m: 400 }))).toBe(800n)
    expect(savedByCache(cached, used({ cacheWrite1h: 100 }))).toBe(-100n)
    expect(savedByCache(cached, used({ inputUncached: 5, output: 9 }))).toBe(0n)
  })

  it('is 0 for a price per call', () => {
    const property = fc.property(perCall, usage, (terms, counted) => {
      expect(savedByCache(terms, counted)).toBe(0n)
    })
    fc.assert(property, { numRuns: 100 })
  })

  it('added to the charge, gives the charge without a cache', () => {
    const property = fc.property(perToken, usage, (terms, counted) => {
      const { inputUncached, cacheRead, cacheWrite5m, cacheWrite1h } = counted
      const input = inputUncached + cacheRead + cacheWrite5m + cacheWrite1h
      const plain = { ...counted, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
      const uncached = chargeFor(terms, { ...plain, inputUncached: input })
      expect(chargeFor(terms, counted) + savedByCache(terms, counted)).toBe(uncached)
    })
    fc.assert(property, { numRuns: 300 })
  })
})
