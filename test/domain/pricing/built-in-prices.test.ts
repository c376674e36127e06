import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtInRatios, DEFAULT_CONTEXT_TIERS } from '#domain/pricing/built-in-prices.ts'
import { chargeFor } from '#domain/pricing/charge.ts'
import { addOpenRouterNames, isOpenRouterName } from '#domain/pricing/openrouter-aliases.ts'
import { DEFAULT_OUTPUT_CAPS } from '#domain/pricing/output-limits-by-model.ts'
import { priceOf, readPriceList } from '#domain/pricing/price-list.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'

const SOURCES = join(import.meta.dirname, '../../../domain/pricing/built-in-prices.md')
const MODELS = [...builtInRatios('ModelRatio').keys()]

/** The charge in dollars for a million units of each count. */
function dollarsFor(model: string, usage: Partial<Usage>): number {
  const customer = { userGroup: 'default', acceptsUnpriced: false }
  const price = priceOf(readPriceList(new Map(), 1), model, 'default', customer)
  if ('code' in price) throw new Error(price.code)
  return Number(chargeFor(price, { ...NO_USAGE, ...usage })) / 500_000
}

describe('built-in prices', () => {
  it.each([
    ['claude-haiku-5-5', { cacheRead: 100_000 }, 0.001],
    ['claude-haiku-5-5', { cacheRead: 100_001, output: 1_000_000 }, 2.505],
    ['claude-opus-5-5', { cacheWrite1h: 1_000_000 }, 8],
    ['claude-fable-5-1', { cacheRead: 1_000_000 }, 0.25],
    ['gpt-6-sol', { inputUncached: 272_000, output: 1_000 }, 0.554],
    ['gpt-6-astra', { inputUncached: 272_001, output: 1_000 }, 5.51502],
    ['gemini-3.1-pro-preview', { inputUncached: 200_001, output: 1_000_000 }, 18.800004],
    ['gemini-2.5-flash', { inputAudio: 1_000_000 }, 1],
    ['gemini-2.5-flash', { output: 1_000_000 }, 2.5],
    ['kimi-k2.6', { cacheRead: 1_000_000, output: 1_000_000 }, 4.16],
    ['gpt-realtime-2', { output: 1_000_000, outputAudio: 1_000_000 }, 64],
    ['gemini-3-pro-image', { output: 1_000_000, outputImage: 1_000_000 }, 120],
    ['gemini-3-pro-image-preview', { output: 1_000_000 }, 12],
    ['gemini-3.1-flash-image-preview', { output: 1_000_000, outputImage: 1_000_000 }, 60],
    ['gemini-2.5-flash-image', { output: 1_290, outputImage: 1_290 }, 0.0387],
    ['gemini-2.5-flash-image', { inputUncached: 1_000_000, output: 1_000_000 }, 2.8],
    ['gpt-realtime-2', { inputImage: 1_000_000 }, 5],
  ])('of %s for %j is the published one, $%d', (model, usage, dollars) => {
    expect(dollarsFor(model, usage)).toBe(dollars)
  })

  it('are the same in every respect by the names that OpenRouter has', () => {
    const named = MODELS.filter(isOpenRouterName)
    expect(named.length).toBeGreaterThan(10)
    for (const name of named) {
      const model = MODELS.find((other) => addOpenRouterNames([other]).includes(name))
      if (model === undefined) throw new Error(name)
      const all = Object.keys(NO_USAGE).map((kind) => ({ [kind]: 300_000 }) as Partial<Usage>)
      for (const usage of all) {
        expect([name, usage, dollarsFor(name, usage)]).toEqual([
          ...[name, usage, dollarsFor(model, usage)],
        ])
      }
      expect(DEFAULT_OUTPUT_CAPS.get(name)).toBe(DEFAULT_OUTPUT_CAPS.get(model))
    }
  })

  it('each have a source', () => {
    const sources = new Set(readFileSync(SOURCES, 'utf8').match(/[\w.-]*\w/g))
    const own = MODELS.filter((model) => !isOpenRouterName(model))
    expect(own.filter((model) => !sources.has(model))).toEqual([])
  })

  it('and output limits and tiers are not given twice', () => {
    expect(new Set(MODELS).size).toBe(MODELS.length)
    for (const model of DEFAULT_CONTEXT_TIERS.keys()) expect(MODELS).toContain(model)
    for (const cap of DEFAULT_OUTPUT_CAPS.values()) expect(cap).toBeGreaterThan(4_000)
  })
})
