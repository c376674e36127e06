import { describe, expect, it } from 'vitest'
import { chargeFor } from '#domain/pricing/charge.ts'
import { holdFor } from '#domain/pricing/hold-amount.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type PriceCondition } from '#domain/pricing/usage.ts'
import { unitOfVideo, VIDEO_PRICE_UNITS, videoPrice } from '#domain/pricing/video-prices.ts'
import { nameOfVersion } from '#domain/shared/versions-of-models.ts'
import { perTokenPrice } from '#test/support/per-token-price.ts'
import { recomputedCharge } from './independent-charge.ts'

const ENTERED: PriceSnapshot = { mode: 'call', list: 0, price: '0.1', group: '1' }
const holdOf = (
  model: string,
  vendor: string,
  seconds: number,
  resolution: string | null = '720p',
  options: readonly string[] = [],
) => {
  const price = videoPrice(ENTERED, [model], vendor, { resolution, seconds, options })
  return Number(holdFor(price, { inputTokens: 0, outputTokens: 0, choices: 1, seconds }))
}

describe('the price of a video', () => {
  it.each([
    ['sora-2-2025-12-08', 'sora', 20, '720p', 1_000_000],
    ['sora-2-pro-2025-10-06', 'sora', 4, '1024p', 333_333],
    ['veo-3.1-generate-preview-0101', 'veo', 8, '4k', 600_000],
    ['viduq2-pro', 'vidu', 4, '1080p', 400_000],
  ])('of %s is that of the longest known name: %s %d s %s', (...[model, vendor, s, size, hold]) => {
    expect(holdOf(model, vendor, s, size)).toBe(hold)
  })

  it.each([
    ['sora-20', 'sora'],
    ['veo-9-generate-preview', 'veo'],
    ['kling-v16', 'kling'],
    ['constructor', 'jimeng'],
  ])('of the unknown model %s is entered per second', (model, vendor) => {
    expect(holdOf(model, vendor, 4)).toBe(200_000)
    expect(holdOf(model, vendor, 60)).toBe(3_000_000)
  })

  it.each([
    ['sora-20', 'sora', ['720p', '1024p', '1080p'], [1, 1.6666666667, 2.3333333333]],
    ['veo-9-generate', 'veo', ['720p', '1080p', '4k'], [1, 1, 2.3333333333]],
    ['viduq9', 'vidu', ['360p', '720p', '1080p'], [1, 1, 2.5]],
    ['doubao-seedance-9', 'doubao', ['480p', '720p', '1080p'], [1, 2.2222222222, 5]],
  ])('of %s has the highest ratios of its vendor', (model, vendor, sizes, ratios) => {
    expect(sizes.map((size) => holdOf(model, vendor, 4, size))).toEqual(
      ratios.map((ratio) => Math.round(200_000 * ratio)),
    )
  })

  it.each([
    ['kling-v16', 'kling', ['pro'], 3.5],
    ['kling-v16', 'kling', ['audio'], 2],
    ['kling-v16', 'kling', ['pro', 'audio'], 7],
    ['doubao-seedance-9', 'doubao', ['audio'], 2],
  ])('of %s rises with the options: %s %s', (model, vendor, options, ratio) => {
    const resolution = vendor === 'kling' ? null : '480p'
    expect(holdOf(model, vendor, 4, resolution, options)).toBe(200_000 * ratio)
  })

  it.each([
    ['doubao-seedance-1-5-pro-251215', ['audio'], 2],
    ['doubao-seedance-1-5-pro-251215', [], 1],
    ['doubao-seedance-1-0-pro-250528', [], 1],
    ['ep-20260101-abcde', ['audio'], 2],
    ['doubao-seedance-2-0-260128', ['audio'], 1],
  ])('per token of %s rises with sound: %s', (model, options, ratio) => {
    const conditions = { resolution: '480p', seconds: 5, options }
    const price = videoPrice(perTokenPrice({ model: '4' }), [model], 'doubao', conditions)
    const bounds = { inputTokens: 0, outputTokens: 1_000, choices: 1, seconds: 5 }
    expect(Number(holdFor(price, bounds))).toBe(4_000 * ratio)
    const usage = { ...NO_USAGE, output: 1_000, conditions: options as PriceCondition[] }
    expect(Number(chargeFor(price, usage))).toBe(4_000 * ratio)
    expect(recomputedCharge(price, usage, 1)).toBe(BigInt(4_000 * ratio))
  })

  it.each([
    ['kling-v3-omni', 'kling', true],
    ['veo-4-generate-001', 'veo', true],
    ['jimeng_t2v_v40', 'jimeng', true],
    ['sora-2-2025-12-08', 'sora', true],
    ['sora-3', 'sora', true],
    ['MiniMax-Hailuo-02', 'hailuo', false],
    ['MiniMax-Hailuo-2.3', 'hailuo', false],
    ['T2V-01', 'hailuo', false],
    ['doubao-seedance-9', 'doubao', true],
  ])('is shown with the unit by which it is billed: %s', (model, vendor, isPerSecond) => {
    const conditions = { resolution: null, seconds: 6, options: [] }
    const billed = videoPrice(ENTERED, [model], vendor, conditions)
    const name = nameOfVersion(model, Object.keys(VIDEO_PRICE_UNITS)) ?? ''
    expect(VIDEO_PRICE_UNITS[name] === 'second').toBe(isPerSecond)
    expect(unitOfVideo([model], vendor) === 'second').toBe(isPerSecond)
    expect('per' in billed).toBe(isPerSecond)
  })

  it('per second of Seedance 2.0 does not rise with sound', () => {
    const model = 'doubao-seedance-2-0-260128'
    expect(holdOf(model, 'doubao', 4, '480p', ['audio'])).toBe(200_000)
    expect(holdOf(model, 'doubao', 4, '1080p', ['audio'])).toBe(1_000_000)
  })

  it.each(['wan2.6', 'wan2.7-i2v', 'wan9-t2v'])(
    'of %s, as of Wan models that start at 720p, is entered for 720p',
    (model) => {
      const holds = ['720p', '1080p', '4k'].map((size) => holdOf(model, 'wan', 5, size))
      expect(holds).toEqual([250_000, 416_667, 416_667])
    },
  )

  it('of an unknown model of Hailuo is entered for 6 seconds', () => {
    const of = (seconds: number, resolution: string) =>
      holdOf('MiniMax-Hailuo-9', 'hailuo', seconds, resolution)
    expect([of(6, '768p'), of(10, '768p'), of(6, '1080p')]).toEqual([50_000, 100_000, 87_500])
    expect(holdOf('T2V-01', 'hailuo', 6)).toBe(50_000)
  })

  it.each([
    ['vidu2.0', 4, ['360p', '720p', '1080p'], [100_000, 200_000, 500_000]],
    ['vidu2.0', 8, ['720p'], [500_000]],
    ['vidu1.5', 4, ['360p', '720p', '1080p'], [80_000, 200_000, 400_000]],
    ['viduq2', 5, ['360p', '720p', '1080p'], [250_000, 250_000, 500_000]],
  ])('of %s with %d s rises with the resolution', (model, seconds, sizes, holds) => {
    expect(sizes.map((size) => holdOf(model, 'vidu', seconds, size))).toEqual(holds)
  })
})
