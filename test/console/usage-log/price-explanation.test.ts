import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { explainPrice } from '#console/features/usage-log/price-explanation.ts'
import { add, formatDecimal, fromInteger, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import type { LoggedUsage } from '#read-api/contract/logs.ts'
import { ratiosOf } from '#test/support/per-token-price.ts'

const ONES = {
  mode: 'tokens',
  list: '1',
  model: '1',
  completion: '1',
  cacheRead: '1',
  cacheWrite: '1.25',
  image: '1',
  audio: '1',
  audioCompletion: '1',
  group: '1',
}

const CASES: [string, Record<string, string>, LoggedUsage, bigint][] = [
  ['plain', { model: '1.25', completion: '4' }, { inputUncached: 1000, output: 500 }, 3750n],
  [
    'with a cache',
    { model: '1.25', completion: '4', cacheRead: '0.5' },
    { inputUncached: 400, cacheRead: 600, output: 500 },
    3375n,
  ],
  [
    'cache writes of 5 minutes and an hour',
    { model: '1.5', completion: '5', cacheRead: '0.1', cacheWrite: '1.25' },
    { inputUncached: 100, cacheRead: 2000, cacheWrite5m: 400, cacheWrite1h: 100, output: 50 },
    1875n,
  ],
  [
    'half a unit, rounded away from zero',
    { model: '1.5', completion: '5', cacheRead: '0.1', cacheWrite: '1.25' },
    { inputUncached: 100, cacheRead: 2000, cacheWrite5m: 500, output: 50 },
    1763n,
  ],
  ['per call', { mode: 'call', price: '0.04', group: '0.8' }, { calls: 3 }, 48_000n],
  [
    'a video by the second',
    { mode: 'call', price: '0.1', per: 'second', group: '0.5' },
    { calls: 1, seconds: 8 },
    200_000n,
  ],
  [
    'text and audio',
    { model: '2.5', completion: '4', audio: '8', audioCompletion: '2' },
    { inputUncached: 100, output: 350, inputAudio: 200, outputAudio: 300 },
    16_750n,
  ],
  [
    'text and images',
    { completion: '6', imageCompletion: '60' },
    { inputUncached: 1000, output: 1320, outputImage: 1120 },
    69_400n,
  ],
  [
    'a long input',
    { model: '0.05', completion: '5', tierAbove: '100000', tierInput: '5', tierOutput: '5' },
    { inputUncached: 100_001, output: 10 },
    25_013n,
  ],
  ['tools', { tool_web_search: '10' }, { toolCalls: 3, tools: { web_search: 3 } }, 15_000n],
  ['tools without a price', {}, { inputUncached: 2, tools: { web_search: 3 } }, 2n],
  [
    'tools beside a price per call',
    { mode: 'call', price: '0.04', group: '0.5', tool_code_interpreter: '30' },
    { calls: 1, tools: { code_interpreter: 2 } },
    25_000n,
  ],
  [
    'less than a unit',
    { model: '0.075', completion: '4', group: '0.5' },
    { inputUncached: 7, output: 3 },
    1n,
  ],
]

/** The sum of the terms and the rounding, computed by the test. */
function addedUp(explanation: NonNullable<ReturnType<typeof explainPrice>>): string {
  const amounts = [...explanation.terms.map(({ amount }) => amount), explanation.rounding]
  return formatDecimal(
    amounts.reduce((sum, text) => add(sum, parseDecimal(text) ?? fromInteger(0)), fromInteger(0)),
  )
}

describe('the explanation of the price of a call', () => {
  it.each(CASES)('has terms that add up to the charge: %s', (_name, price, usage, charged) => {
    const explanation = explainPrice({ price: { ...ONES, ...price }, usage }, charged)
    expect(explanation?.total).toBe(charged)
    expect(explanation?.isExact).toBe(true)
    expect(explanation && addedUp(explanation)).toBe(String(charged))
  })

  it('shows the count and every factor of a term', () => {
    const price = { ...ONES, model: '1.5', cacheWrite: '1.25', group: '2' }
    expect(explainPrice({ price, usage: { cacheWrite1h: 100 } }, 600n)?.terms).toEqual([
      {
        name: 'cacheWrite1h',
        count: 100,
        factors: [
          { name: 'cacheWrite', value: '1.25' },
          { name: 'oneHour', value: '1.6' },
          { name: 'model', value: '1.5' },
          { name: 'group', value: '2' },
        ],
        amount: '600',
      },
    ])
  })

  it('names seconds and a price per second for a video that was billed by the second', () => {
    const price = { mode: 'call', price: '0.1', group: '1', per: 'second' }
    const usage = { calls: 1, seconds: 8 }
    expect(explainPrice({ price, usage }, 400_000n)?.terms).toMatchObject([
      { name: 'seconds', count: 8, factors: [{ name: 'pricePerSecond', value: '0.1' }, {}, {}] },
    ])
  })

  it('shows the listed price of a video, and the ratio of each of its properties', () => {
    const ratios = { 'factor_1080p 10s': '1.6666666667', factor_audio: '2', list: '3' }
    const price = { mode: 'call', price: '0.33333333334', group: '0.5', per: 'second', ...ratios }
    const usage = { calls: 1, seconds: 5 }
    const explanation = explainPrice({ price, usage }, 416_667n)
    expect(explanation).toMatchObject({ isExact: true, total: 416_667n })
    const ofSize = { kind: 'resolution', name: '1080p · 10 s', ratio: '1.6666666667' }
    const ofSound = { kind: 'audio', name: 'audio', ratio: '2' }
    expect(explanation?.terms[0]?.factors).toEqual([
      { name: 'pricePerSecond', value: '0.1' },
      { name: 'property', property: ofSize, value: '1.6666666667' },
      { name: 'property', property: ofSound, value: '2' },
      { name: 'quotaPerDollar', value: '500000' },
      { name: 'group', value: '0.5' },
    ])
  })

  it('shows the listed price of images, but not at the price of a tool', () => {
    const ofImages = { price: '0.08', imageFactor: '2', tool_web_search: '10' }
    const price = { mode: 'call', group: '1', ...ofImages }
    const usage = { calls: 2, tools: { web_search: 1 } }
    const explanation = explainPrice({ price, usage }, 85_000n)
    expect(explanation).toMatchObject({ isExact: true })
    const named = explanation?.terms.map(({ factors }) => factors.map(({ value }) => value))
    expect(named).toEqual([
      ['0.04', '2', '500000', '1'],
      ['0.01', '500000', '1'],
    ])
  })

  it('keeps a unit price that is not the product of its ratios', () => {
    const price = { mode: 'call', price: '0.1', group: '1', factor_720p: '3' }
    const explanation = explainPrice({ price, usage: { calls: 1 } }, 50_000n)
    expect(explanation).toMatchObject({ isExact: true })
    expect(explanation?.terms[0]?.factors[0]).toEqual({ name: 'price', value: '0.1' })
  })

  describe('of a batch', () => {
    /** 9000 lines of 60 input and 10 output tokens, of which each costs 17.5 and is charged 18. */
    const BATCH = {
      ...{ batch_id: 'b1', batch_lines: 10_000, batch_lines_billed: 9_000, batch_ratio: '0.5' },
      ...{ model_ratio: 0.5, completion_ratio: 1, group_ratio: 1, cache_ratio: 1 },
      usage: { inputUncached: 540_000, output: 90_000 },
    }

    it('has the batch ratio in each term, and adds up but for the rounding of each line', () => {
      const explanation = explainPrice(BATCH, 162_000n)
      expect(explanation).toMatchObject({
        ...{ sum: '157500', rounding: '4500', total: 162_000n, isExact: true, lines: 9_000 },
      })
      expect(explanation?.terms.map(({ amount }) => amount)).toEqual(['135000', '22500'])
      for (const { factors } of explanation?.terms ?? []) {
        expect(factors.at(-1)).toEqual({ name: 'batch', value: '0.5' })
      }
    })

    it.each([
      [152_999n, false],
      [153_000n, true],
      [166_500n, true],
      [166_501n, false],
    ])('is exact only for a charge that rounding can give: %s', (charged, isExact) => {
      expect(explainPrice(BATCH, charged)).toMatchObject({ isExact })
    })

    it('names the part of the charges that the balance did not cover', () => {
      expect(explainPrice({ ...BATCH, unpaid_quota: 2_000 }, 160_000n)).toMatchObject({
        ...{ isExact: true, total: 162_000n, unpaid: 2_000n },
      })
    })

    it('counts the charged lines of a price per call', () => {
      const { model_ratio: _, ...rest } = BATCH
      const priced = { ...rest, model_price: 0.001, usage: { inputUncached: 540_000 } }
      const explanation = explainPrice(priced, 2_250_000n)
      expect(explanation).toMatchObject({ isExact: true, rounding: '0' })
      expect(explanation?.terms).toMatchObject([{ name: 'calls', count: 9_000 }])
    })

    it('has the lines of images that a single call has, and their ratios', () => {
      const usage = { inputUncached: 1_000, inputImage: 100, output: 320, outputImage: 120 }
      const ofImages = { image_ratio: 2, image_completion_ratio: 60 }
      const { batch_lines_billed: _, ...one } = { ...BATCH, ...ofImages, usage }
      const priced = { ...ONES, model: '0.5', image: '2', imageCompletion: '60' }
      const single = explainPrice({ price: priced, usage }, 4_300n)
      const batch = explainPrice({ ...one, batch_lines_billed: 1 }, 2_150n)
      expect([single, batch]).toMatchObject([{ isExact: true }, { isExact: true }])
      const namesOf = (of: typeof batch) => of?.terms.map(({ name, count }) => [name, count])
      expect(namesOf(batch)).toEqual(namesOf(single))
      expect(namesOf(batch)).toContainEqual(['outputImage', 120])
    })

    it('has the factor of images with a price per image', () => {
      const { model_ratio: _, ...rest } = BATCH
      const priced = { ...rest, model_price: 0.04, image_factor: '2', batch_lines_billed: 3 }
      const explanation = explainPrice({ ...priced, usage: { images: 5 } }, 100_000n)
      expect(explanation).toMatchObject({ isExact: true, rounding: '0' })
      const [{ name, count, factors } = { factors: [] }] = explanation?.terms ?? []
      expect([name, count]).toEqual(['calls', 5])
      expect(factors.map(({ value }) => value)).toEqual(['0.04', '2', '500000', '1', '0.5'])
    })

    it('is omitted if the row lacks a price, such as that of images or tools', () => {
      for (const usage of [{ inputImage: 5 }, { outputImage: 5 }, { tools: { web_search: 1 } }]) {
        expect(explainPrice({ ...BATCH, usage }, 5n)).toBeNull()
      }
    })
  })

  it('reports a charge that differs from the calculation', () => {
    const explanation = explainPrice({ price: ONES, usage: { inputUncached: 10 } }, 11n)
    expect(explanation).toMatchObject({ total: 10n, isExact: false })
  })

  it('is omitted without a price, or when the price is not a number', () => {
    expect(explainPrice({}, 10n)).toBeNull()
    const usage = { inputUncached: 1 }
    expect(explainPrice({ price: { ...ONES, model: 'many' }, usage }, 1n)).toBeNull()
    expect(explainPrice({ price: { mode: 'tokens' }, usage }, 1n)).toBeNull()
  })

  it('is zero when nothing was used', () => {
    expect(explainPrice({ price: ONES, usage: {} }, 0n)).toMatchObject({
      terms: [],
      total: 0n,
      isExact: true,
    })
  })

  const ratio = fc
    .tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 999_999 }))
    .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(6, '0')}`)
  const count = fc.integer({ min: 0, max: 2_000_000 })

  it('has terms and a rounding that add up to the total for any usage, to the unit', () => {
    const prices = fc.record({ ...ratiosOf(ratio), imageCompletion: ratio })
    const usages = fc.record({
      inputUncached: count,
      cacheRead: count,
      cacheWrite5m: count,
      cacheWrite1h: count,
      inputAudio: count,
      inputImage: count,
      output: count,
      outputAudio: count,
      outputImage: count,
    })
    fc.assert(
      fc.property(prices, usages, (price, usage) => {
        const explanation = explainPrice({ price, usage }, 0n)
        expect(explanation && addedUp(explanation)).toBe(String(explanation?.total))
      }),
      { numRuns: 300 },
    )
  })
})
