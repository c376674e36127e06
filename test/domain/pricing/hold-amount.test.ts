import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHARGE_MAX, chargeFor } from '#domain/pricing/charge.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import { mostExpensiveConditions } from '#domain/pricing/price-conditions.ts'
import { withoutImages } from '#domain/pricing/price-list.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type PriceCondition, toolUsage, usageWithin } from '#domain/pricing/usage.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import {
  calls,
  perCall,
  perToken,
  toolCounts,
  usage,
  usageUpTo,
} from './random-prices-and-usage.ts'

const bounds = fc.record({
  inputTokens: fc.oneof(fc.nat(5), fc.nat(2_000_000)),
  outputTokens: fc.oneof(fc.nat(5), fc.nat(200_000)),
  choices: fc.constantFrom(1, 2, 128),
  tools: toolCounts,
})
/** Usage of at most the given tokens. Some of it uses fewer tokens and tools than allowed. */
const within = bounds.chain((limits) =>
  fc
    .tuple(
      fc.constantFrom(1, 2, 7),
      usageUpTo(limits.inputTokens, limits.outputTokens * limits.choices),
      toolCounts,
    )
    .map(([divisor, usage, uses]) => {
      const inputUncached = Math.floor(usage.inputUncached / divisor)
      return [limits, { ...usage, inputUncached, ...toolUsage(uses, limits.tools) }] as const
    }),
)

/** The conditions that a call may have at the same time. */
const CONDITIONS: readonly (readonly PriceCondition[])[] = [
  ...([[], ['fast'], ['ultrafast'], ['flex'], ['us_inference']] as PriceCondition[][]),
  ...([
    ['fast', 'us_inference'],
    ['flex', 'us_inference'],
  ] as PriceCondition[][]),
]

describe('a hold', () => {
  it('covers the cost of any call within its token limits', () => {
    const property = fc.property(perToken, within, (price, [limits, usage]) => {
      for (const conditions of CONDITIONS) {
        expect(holdFor(price, limits) >= chargeFor(price, { ...usage, conditions })).toBe(true)
      }
    })
    fc.assert(property, { numRuns: 1_000 })
  })

  it('covers the part of any usage within its limits', () => {
    const property = fc.property(perToken, bounds, usage, (price, limits, counted) => {
      const outputTokens = limits.outputTokens * limits.choices
      const part = usageWithin(counted, { ...limits, outputTokens })
      expect(holdFor(price, limits) >= chargeFor(price, part)).toBe(true)
      expect(chargeFor(price, part) <= chargeFor(price, counted)).toBe(true)
    })
    fc.assert(property, { numRuns: 1_000 })
  })

  it('equals the charge for all calls of a price per call', () => {
    const property = fc.property(perCall, within, calls, (price, [limits, usage], n) => {
      const choices = Math.max(limits.choices, n)
      const conditions = mostExpensiveConditions(price)
      const all = { ...usage, ...toolUsage(limits.tools, limits.tools), conditions }
      expect(holdFor(price, { ...limits, choices })).toBe(chargeFor(price, all, choices))
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('equals the charge if all limits are reached at the highest ratios', () => {
    const price: PriceSnapshot = {
      mode: 'tokens',
      list: 0,
      model: '1.5',
      completion: '5',
      cacheRead: '0.1',
      cacheWrite: '1.25',
      image: '1',
      audio: '1',
      audioCompletion: '1',
      group: '1',
    }
    const limits = { inputTokens: 100, outputTokens: 10, choices: 3 }
    const usage = { ...NO_USAGE, cacheWrite1h: 100, output: 30 }
    expect(holdFor(price, limits)).toBe(chargeFor(price, usage))
    expect(holdFor(price, limits)).toBe(525n)
  })

  it('covers an answer that has only images, unless images can not be in it', () => {
    const price = perTokenPrice({ completion: '6', imageCompletion: '60' })
    const limits = { inputTokens: 100, outputTokens: 10, choices: 3 }
    expect(holdFor(price, limits)).toBe(1_960n)
    const withImages = { ...NO_USAGE, inputUncached: 100, output: 30, outputImage: 30 }
    expect(chargeFor(price, withImages)).toBe(1_900n)
    const ofText = withoutImages(price)
    expect(ofText).not.toHaveProperty('imageCompletion')
    expect(withoutImages(price)).toBe(ofText)
    expect(holdFor(ofText, limits)).toBe(340n)
    expect(chargeFor(ofText, withImages)).toBe(280n)
  })

  it('stops at the maximum charge', () => {
    const price: PriceSnapshot = { mode: 'call', list: 0, price: '999999999999', group: '1' }
    const limits = { inputTokens: 0, outputTokens: 0, choices: 128 }
    expect(holdFor(price, limits)).toBe(CHARGE_MAX)
  })

  it.each([
    { inputTokens: -1, outputTokens: 0, choices: 1 },
    { inputTokens: 0, outputTokens: 0.5, choices: 1 },
    { inputTokens: 0, outputTokens: Number.POSITIVE_INFINITY, choices: 1 },
    { inputTokens: Number.NaN, outputTokens: 0, choices: 1 },
    { inputTokens: 0, outputTokens: 0, choices: 0 },
    { inputTokens: 0, outputTokens: 0, choices: 129 },
  ])('is refused for the limits %j', (limits) => {
    const price: PriceSnapshot = { mode: 'call', list: 0, price: '1', group: '1' }
    expect(() => holdFor(price, limits)).toThrow()
  })
})
