import { decimalOf, isAbove } from './decimal.ts'
import type { DecimalText, PriceFactor, PriceSnapshot } from './price.ts'

/**
 * How a provider bills videos of a model. `price` is its list price in dollars, for a ratio of 1.
 * Models without a certain price have only a unit and ratios, and an admin enters their price.
 */
type VideoPrice = {
  readonly models: readonly string[]
  readonly per: 'second' | 'call'
  readonly price?: DecimalText
  /** Ratios by resolution (`1080p`), or by resolution and length (`1080p 6s`). */
  readonly resolutions?: Readonly<Record<string, DecimalText>>
  /** Ratios by other options, such as `pro` or `audio`. */
  readonly options?: Readonly<Record<string, DecimalText>>
}

const HD = '1.6666666667'

/**
 * List prices of 2025-11 to 2026-02, from the providers' pages: platform.openai.com/docs/pricing,
 * ai.google.dev/gemini-api/docs/pricing, klingai.com/dev/pricing (units of $0.14),
 * platform.minimax.io/docs/pricing and alibabacloud.com/help/model-studio (Singapore).
 */
const VIDEO_PRICES: readonly VideoPrice[] = [
  { models: ['sora-2'], per: 'second', price: '0.1' },
  {
    models: ['sora-2-pro'],
    ...{ per: 'second', price: '0.3' },
    resolutions: { '720p': '1', '1024p': HD, '1080p': '2.3333333333' },
  },
  {
    models: ['veo-3.1-generate-preview', 'veo-3.1-generate-001'],
    ...{ per: 'second', price: '0.4' },
    resolutions: { '720p': '1', '1080p': '1', '4k': '1.5' },
  },
  {
    models: ['veo-3.1-fast-generate-preview', 'veo-3.1-fast-generate-001'],
    ...{ per: 'second', price: '0.15' },
    resolutions: { '720p': '1', '1080p': '1', '4k': '2.3333333333' },
  },
  { models: ['veo-3.0-generate-001'], per: 'second', price: '0.4' },
  { models: ['veo-3.0-fast-generate-001'], per: 'second', price: '0.15' },
  { models: ['veo-2.0-generate-001'], per: 'second', price: '0.35' },
  { models: ['kling-v1'], per: 'second', price: '0.028', options: { pro: '3.5' } },
  {
    models: ['kling-v1-5', 'kling-v1-6', 'kling-v2-1'],
    ...{ per: 'second', price: '0.056', options: { pro: '1.75' } },
  },
  { models: ['kling-v2-master', 'kling-v2-1-master'], per: 'second', price: '0.28' },
  { models: ['kling-v2-5-turbo'], per: 'second', price: '0.042', options: { pro: HD } },
  { models: ['kling-v2-6'], per: 'second', price: '0.042', options: { pro: HD, audio: '2' } },
  {
    models: ['MiniMax-Hailuo-02'],
    ...{ per: 'call', price: '0.28' },
    resolutions: {
      ...{ '512p 6s': '0.3571428571', '512p 10s': '0.5357142857' },
      ...{ '768p 6s': '1', '768p 10s': '2', '1080p 6s': '1.75' },
    },
  },
  {
    models: ['wan2.5-t2v-preview', 'wan2.5-i2v-preview'],
    ...{ per: 'second', price: '0.05' },
    resolutions: { '480p': '1', '720p': '2', '1080p': '3' },
  },
  {
    models: ['wan2.2-t2v-plus', 'wan2.2-i2v-plus'],
    ...{ per: 'second', price: '0.02' },
    resolutions: { '480p': '1', '1080p': '5' },
  },
  { models: ['wan2.2-i2v-flash'], per: 'second', resolutions: { '480p': '1', '720p': '2' } },
  { models: ['wan2.1-t2v-turbo', 'wan2.1-i2v-turbo'], per: 'second', price: '0.036' },
  { models: ['wan2.1-t2v-plus', 'wan2.1-i2v-plus'], per: 'second', price: '0.1' },
  {
    models: ['jimeng_t2v_v30', 'jimeng_i2v_first_v30', 'jimeng_t2v_v30_1080p'],
    per: 'second',
  },
  { models: ['jimeng_ti2v_v30_pro', 'jimeng_i2v_first_v30_1080'], per: 'second' },
  { models: ['viduq1', 'viduq2', 'vidu2.0', 'vidu1.5'], per: 'second' },
]

const BY_MODEL: ReadonlyMap<string, VideoPrice> = new Map(
  VIDEO_PRICES.flatMap((row) => row.models.map((model) => [model, row] as const)),
)

/** The built-in prices of video models, in dollars per second or per call. */
export const VIDEO_MODEL_PRICES: readonly (readonly [string, DecimalText])[] = [
  ...BY_MODEL,
].flatMap(([model, { price }]) => (price === undefined ? [] : [[model, price] as const]))

/** What a request for a video has that may change its price. */
export type VideoConditions = {
  readonly resolution: string | null
  /** The seconds of one video. */
  readonly seconds: number
  readonly options: readonly string[]
}

/**
 * Applies the unit and the ratios of the first of the models that has any. The models are the name
 * in the request and the provider's own name, so that a mapped name is billed like its model. A
 * price per token stays as it is.
 */
export function videoPrice(
  price: PriceSnapshot,
  models: readonly string[],
  { resolution, seconds, options }: VideoConditions,
): PriceSnapshot {
  const row = models.map((model) => BY_MODEL.get(model)).find((one) => one !== undefined)
  if (price.mode !== 'call' || row === undefined) return price
  const { resolutions = {}, options: ratios = {} } = row
  const name = resolution ?? 'resolution'
  const byLength = resolutions[`${name} ${seconds}s`]
  const ratio = byLength ?? resolutions[name] ?? highestOf(Object.values(resolutions))
  const factors: readonly PriceFactor[] = [
    { name: byLength === undefined ? name : `${name} ${seconds}s`, ratio },
    ...options.map((option) => ({ name: option, ratio: ratios[option] ?? '1' })),
  ].filter((condition) => condition.ratio !== '1')
  return {
    ...price,
    ...(row.per === 'second' ? { per: 'second' as const } : {}),
    ...(factors.length === 0 ? {} : { factors }),
  }
}

/** Returns the highest ratio, which applies to a resolution without a ratio. */
const highestOf = (ratios: readonly DecimalText[]): DecimalText =>
  ratios.reduce(
    (highest, one) => (isAbove(decimalOf(one), decimalOf(highest)) ? one : highest),
    '1',
  )
