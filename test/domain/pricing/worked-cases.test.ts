import { describe, expect, it } from 'vitest'
import { chargeFor } from '#domain/pricing/charge.ts'
import { createDraftPricer } from '#domain/pricing/charge-at-draft-prices.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import {
  inBatchPrice,
  priceOf,
  readPriceList,
  withImageFactor,
  withTools,
} from '#domain/pricing/price-list.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { recomputedCharge } from './independent-charge.ts'

const MODEL = 'm'

/** The price that these options give, each option holding one value for the model. */
function priced(options: Record<string, string>, group = '1'): PriceSnapshot {
  const values = Object.entries(options).map(([key, value]) => [key, `{"${MODEL}":${value}}`])
  const list = readPriceList(
    new Map([...values, ['GroupRatio', `{"default":${group}}`]] as [string, string][]),
    1,
  )
  const customer = { userGroup: 'default', acceptsUnpriced: false }
  const price = priceOf(list, MODEL, 'default', customer)
  if ('code' in price) throw new Error(price.code)
  return price
}

const used = (usage: Partial<Usage>): Usage => ({ ...NO_USAGE, ...usage })
const CLAUDE = {
  ModelRatio: '1.5',
  CompletionRatio: '5',
  CacheRatio: '0.1',
  CreateCacheRatio: '1.25',
}

describe('worked examples of billing', () => {
  it('1: input and output are charged by their ratios', () => {
    const price = priced({ ModelRatio: '1.25', CompletionRatio: '4' })
    expect(chargeFor(price, used({ inputUncached: 1000, output: 500 }))).toBe(3750n)
  })

  it('2: cached input is charged by the cache ratio', () => {
    const price = priced({ ModelRatio: '1.25', CompletionRatio: '4', CacheRatio: '0.5' })
    const usage = used({ inputUncached: 400, cacheRead: 600, output: 500 })
    expect(chargeFor(price, usage)).toBe(3375n)
  })

  it('3: cache writes of five minutes and of an hour have separate ratios', () => {
    const cache = { cacheRead: 2000, cacheWrite5m: 400, cacheWrite1h: 100 }
    const usage = used({ inputUncached: 100, output: 50, ...cache })
    expect(chargeFor(priced(CLAUDE), usage)).toBe(1875n)
  })

  it('4: half a unit is rounded away from zero', () => {
    const usage = used({ inputUncached: 100, cacheRead: 2000, cacheWrite5m: 500, output: 50 })
    expect(chargeFor(priced(CLAUDE), usage)).toBe(1763n)
  })

  it('5: a price per call is charged three times with a lower group ratio', () => {
    expect(chargeFor(priced({ ModelPrice: '0.04' }, '0.8'), used({ output: 1 }), 3)).toBe(48_000n)
  })

  it('6: text and audio are charged for input and output', () => {
    const audio = { AudioRatio: '8', AudioCompletionRatio: '2' }
    const price = priced({ ModelRatio: '2.5', CompletionRatio: '4', ...audio })
    const usage = { inputUncached: 100, inputAudio: 200, output: 350, outputAudio: 300 }
    expect(chargeFor(price, used(usage))).toBe(16_750n)
  })

  it('7: built-in tools are charged per use', () => {
    const list = readPriceList(new Map(), 1)
    const tools = { web_search: 3 }
    const price = withTools(list, priced({ ModelRatio: '1' }), MODEL, tools)
    expect(chargeFor(price, used({ toolCalls: 3, tools }))).toBe(15_000n)
  })

  it('8: a call that costs anything costs at least 1', () => {
    const price = priced({ ModelRatio: '0.075', CompletionRatio: '4' }, '0.5')
    expect(chargeFor(price, used({ inputUncached: 7, output: 3 }))).toBe(1n)
    expect(chargeFor(price, NO_USAGE)).toBe(0n)
  })

  it('9: images in an answer are charged by their ratio to the input price', () => {
    const ratios = { ModelRatio: '1', CompletionRatio: '6', ImageCompletionRatio: '60' }
    const usage = used({ inputUncached: 1000, output: 1320, outputImage: 1120 })
    expect(chargeFor(priced(ratios), usage)).toBe(1000n + 200n * 6n + 1120n * 60n)
    expect(chargeFor(priced(ratios, '0.5'), usage)).toBe(34_700n)
    const { ImageCompletionRatio: _, ...ofText } = ratios
    expect(chargeFor(priced(ofText), usage)).toBe(1000n + 1320n * 6n)
  })
})

describe('worked examples of images', () => {
  const ofSize = (imageFactor: string, price = '0.04', group = '1') =>
    withImageFactor(priced({ ModelPrice: price }, group), imageFactor)
  const two = used({ images: 2 })

  it.each([
    ['0.4', 16_000n],
    ['0.45', 18_000n],
    ['1', 40_000n],
    ['2', 80_000n],
    ['3', 120_000n],
  ])('two images of $0.04 at the factor %s cost %d', (factor, charge) => {
    const price = ofSize(factor)
    expect(chargeFor(price, two, 2)).toBe(charge)
    expect(recomputedCharge(price, two, 2)).toBe(charge)
    expect(holdFor(price, { inputTokens: 0, outputTokens: 0, choices: 2 })).toBe(charge)
  })

  it('the factor is exact, and the charge is rounded once', () => {
    const price = ofSize('0.45', '0.00001', '0.7')
    expect(chargeFor(price, used({ images: 1 }), 1)).toBe(2n)
    expect(recomputedCharge(price, used({ images: 1 }), 1)).toBe(2n)
  })

  it('a price per token has no factor', () => {
    const price = priced({ ModelRatio: '1' })
    expect(withImageFactor(price, '3')).toBe(price)
  })

  it('a draft of other prices keeps the factor of a past call', () => {
    const draft = createDraftPricer(readPriceList(new Map([['ModelPrice', `{"${MODEL}":0.1}`]]), 1))
    const call = { model: MODEL, group: 'default', userGroup: 'default', usage: two, calls: 2 }
    expect(draft({ ...call, imageFactor: '2' }, false)).toBe(200_000n)
    expect(draft(call, false)).toBe(100_000n)
  })
})

describe('a line of a batch', () => {
  const list = readPriceList(
    new Map([
      ['ModelRatio', '{"gpt-4o":1.25}'],
      ['CompletionRatio', '{"gpt-4o":4}'],
    ]),
    1,
  )
  const customer = { userGroup: 'default', acceptsUnpriced: false }
  const full = priceOf(list, 'gpt-4o', 'default', customer)

  it('costs half of a call, but the fees of tools stay', () => {
    if ('code' in full) throw new Error(full.code)
    const price = inBatchPrice(list, withTools(list, full, 'gpt-4o', { file_search: 2 }))
    const usage = { ...NO_USAGE, inputUncached: 1000, output: 500 }
    expect(chargeFor(price, usage)).toBe(1875n)
    const tools = { toolCalls: 2, tools: { file_search: 2 } }
    expect(chargeFor(price, { ...usage, ...tools })).toBe(1875n + 2500n)
    expect(inBatchPrice(list, full)).toBe(inBatchPrice(list, full))
  })

  it('is held at the same ratio', () => {
    if ('code' in full) throw new Error(full.code)
    const bounds = { inputTokens: 1000, outputTokens: 500, choices: 1 }
    expect(holdFor(inBatchPrice(list, full), bounds) * 2n).toBe(holdFor(full, bounds))
  })
})
