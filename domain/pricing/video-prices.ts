import { nameOfVersion } from '../shared/versions-of-models.ts'
import { decimalOf, isAbove } from './decimal.ts'
import { ratioOfCondition } from './price-conditions.ts'
import type { DecimalText, PerTokenPrice, PriceFactor, PriceSnapshot } from './price-snapshot.ts'

/** The unit of a price in the option `ModelPrice`: one second of a video, or one call. */
export type PriceUnit = 'second' | 'call'

/**
 * The rule by which a provider bills the videos of some models. `price` is the provider's list
 * price in dollars per second or per video, for a ratio of 1. `price` is omitted for models whose
 * price is uncertain. An admin must enter the price of such a model.
 */
type VideoPrice = {
  readonly models: readonly string[]
  readonly per: PriceUnit
  readonly price?: DecimalText
  /** Ratios by resolution (`1080p`), or by resolution and length (`1080p 6s`). */
  readonly resolutions?: Readonly<Record<string, DecimalText>>
  /** Ratios by other options, such as `pro` or `audio`. */
  readonly options?: Readonly<Record<string, DecimalText>>
}

const HD = '1.6666666667'
const RESOLUTIONS_OF_DOUBAO = { '480p': '1', '720p': '2.2222222222', '1080p': '5' } as const

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
  {
    // An admin enters the price of 720p, which is the default. In Beijing, Alibaba bills 0.1 yuan
    // per second at 480p, 0.2 at 720p and 0.48 at 1080p.
    models: ['wan2.2-kf2v-flash'],
    per: 'second',
    resolutions: { '480p': '0.5', '720p': '1', '1080p': '2.4' },
  },
  {
    models: [
      ...['wan2.1-t2v-turbo', 'wan2.1-i2v-turbo'],
      // Alibaba also accepts the older spelling.
      ...['wanx2.1-t2v-turbo', 'wanx2.1-i2v-turbo'],
    ],
    ...{ per: 'second', price: '0.036' },
  },
  {
    models: [
      ...['wan2.1-t2v-plus', 'wan2.1-i2v-plus'],
      ...['wanx2.1-t2v-plus', 'wanx2.1-i2v-plus'],
      ...['wan2.1-kf2v-plus', 'wanx2.1-kf2v-plus'],
    ],
    ...{ per: 'second', price: '0.1' },
  },
  {
    // The name of a Jimeng model determines the resolution, so one price per model is enough.
    models: ['jimeng_t2v_v30', 'jimeng_i2v_first_v30', 'jimeng_t2v_v30_1080p'],
    per: 'second',
  },
  { models: ['jimeng_ti2v_v30_pro', 'jimeng_i2v_first_v30_1080'], per: 'second' },
  // The ratios of these models come from Vidu's tables of credits. A video of viduq1 has only one
  // resolution. Below 720p, the credits for viduq2 depend on the kind of task, so the price of 720p
  // applies.
  { models: ['viduq1'], per: 'second' },
  {
    models: ['viduq2'],
    per: 'second',
    resolutions: { '360p': '1', '540p': '1', '720p': '1', '1080p': '2' },
  },
  {
    models: ['vidu2.0'],
    per: 'second',
    resolutions: { '360p': '0.5', '720p': '1', '720p 8s': '1.25', '1080p': '2.5' },
  },
  {
    models: ['vidu1.5'],
    per: 'second',
    resolutions: { '360p': '0.4', '720p': '1', '1080p': '2' },
  },
  // The tokens of Seedance 2.0 cost the same with and without sound.
  {
    models: ['doubao-seedance-2-0', 'doubao-seedance-2-0-fast'],
    per: 'second',
    resolutions: RESOLUTIONS_OF_DOUBAO,
  },
]

/**
 * The rule for Hailuo models without a row. These models are billed per video. An admin enters the
 * price of a video of 6 seconds at the usual resolution.
 */
const OTHER_HAILUO: VideoPrice = {
  models: [],
  per: 'call',
  resolutions: {
    ...{ '512p 6s': '1', '512p 10s': '2', '720p 6s': '1', '720p 10s': '2' },
    ...{ '768p 6s': '1', '768p 10s': '2', '1080p 6s': '1.75' },
  },
}
/**
 * The rule for Doubao models without a row, if an admin enters a price per second. Doubao itself
 * bills tokens. The number of tokens is proportional to the pixels of a frame, and sound doubles
 * the price of a token (volcengine.com/docs/82379/1544106).
 */
const OTHER_DOUBAO: VideoPrice = {
  models: [],
  per: 'second',
  resolutions: RESOLUTIONS_OF_DOUBAO,
  options: { audio: '2' },
}
/**
 * The rule for Wan models without a row, such as `wan2.6`. Their lowest resolution is 720p. For
 * 1080p, Alibaba bills 1.67 times as much in Beijing and 1.5 times in Singapore
 * (help.aliyun.com/zh/model-studio/text-to-video-guide).
 */
const OTHER_WAN: VideoPrice = {
  models: [],
  per: 'second',
  resolutions: { '480p': '1', '720p': '1', '1080p': HD },
}
/** All resolutions that have a ratio for some model. */
const RESOLUTIONS: ReadonlySet<string> = new Set(
  [...VIDEO_PRICES, OTHER_HAILUO, OTHER_DOUBAO, OTHER_WAN]
    .flatMap(({ resolutions = {} }) => Object.keys(resolutions))
    .map((name) => name.split(' ', 1)[0] ?? name),
)
/** The ratio of sound at a price per token, for models whose name does not determine this ratio. */
const OTHER_SOUND: DecimalText = '2'
/** Matches the models whose tokens cost the same with and without sound. */
const SOUND_INCLUDED = /seedance-2[-.]0/
const OTHER_MODELS: ReadonlyMap<string, VideoPrice> = new Map([
  ['hailuo', OTHER_HAILUO],
  ['doubao', OTHER_DOUBAO],
  ['wan', OTHER_WAN],
])

/**
 * Returns the rule for videos of models without a row in `VIDEO_PRICES`. If `OTHER_MODELS` has no
 * rule for the vendor, these videos are billed by the second. The ratio of each resolution and
 * option is the highest ratio in the rows of the vendor. If the admin enters the price of the
 * vendor's cheapest kind of video, every other kind is therefore charged at least as much as the
 * vendor may bill.
 */
function otherModelOf(vendor: string): VideoPrice {
  const other = OTHER_MODELS.get(vendor)
  if (other !== undefined) return other
  const rows = VIDEO_PRICES.filter(({ models }) => models[0]?.startsWith(vendor))
  return {
    models: [],
    per: 'second',
    resolutions: highestByName(rows.map(({ resolutions = {} }) => resolutions)),
    options: highestByName(rows.map(({ options = {} }) => options)),
  }
}

/** Returns the highest ratio of each name in `all`, but at least 1. */
function highestByName(
  all: readonly Readonly<Record<string, DecimalText>>[],
): Readonly<Record<string, DecimalText>> {
  const names = new Set(all.flatMap(Object.keys))
  return Object.fromEntries(
    [...names].map((name) => [name, highestOf(all.flatMap((ratios) => ratios[name] ?? []))]),
  )
}

const BY_MODEL: ReadonlyMap<string, VideoPrice> = new Map(
  VIDEO_PRICES.flatMap((row) => row.models.map((model) => [model, row] as const)),
)

/**
 * Prefixes of the names of other video models. These models have no row, so their videos are billed
 * by the second (see `otherModelOf`). Prefixes that are also those of image models, such as
 * `wan2.6`, are omitted.
 */
const OTHER_VIDEO_MODELS = [
  ...['sora-3', 'veo', 'kling-v2', 'kling-v3', 'viduq3', 'doubao-seedance'],
  ...['jimeng_t2v', 'jimeng_i2v', 'jimeng_ti2v'],
]

/**
 * The unit of the price of each known video model. Versions of a model have the same unit. This
 * table is for code that knows only the name of a model. `unitOfVideo` also considers the channel.
 */
export const VIDEO_PRICE_UNITS: Readonly<Record<string, PriceUnit>> = Object.fromEntries([
  ...OTHER_VIDEO_MODELS.map((name) => [name, 'second'] as const),
  ...[...BY_MODEL].map(([model, { per }]) => [model, per] as const),
])

/** The built-in prices of video models, in dollars per second or per call. */
export const VIDEO_MODEL_PRICES: readonly (readonly [string, DecimalText])[] = [
  ...BY_MODEL,
].flatMap(([model, { price }]) => (price === undefined ? [] : [[model, price] as const]))

/** The properties of a requested video that may change its price. */
export type VideoConditions = {
  readonly resolution: string | null
  /** The length of one video in seconds. */
  readonly seconds: number
  readonly options: readonly string[]
}

/**
 * Returns `price` with the unit (second or call) and the ratios of the requested video. The unit
 * and the ratios come from the first of `models` that has a row. `models` contains the model's name
 * in the request and the provider's name for the model, so that a mapped name is billed like the
 * provider's model. A model without a row is billed by the rule of `otherModelOf`. A price per
 * token depends only on the sound of the video, because all other properties determine the number
 * of tokens.
 */
export function videoPrice(
  price: PriceSnapshot,
  models: readonly string[],
  vendor: string,
  { resolution, seconds, options }: VideoConditions,
): PriceSnapshot {
  if (price.mode === 'tokens') {
    return options.includes('audio') ? withSound(price, models) : price
  }
  const row = ruleOf(models, vendor)
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

/**
 * The rule by which the videos of a model at a channel are billed, unless the price is per token.
 */
export type VideoPricing = {
  readonly unit: PriceUnit
  /** True if the vendor counts tokens. An admin can then also set a price per token. */
  readonly countsTokens: boolean
  /** Returns the ratios of the videos, or null if all of them cost the same. */
  readonly ratios: () => VideoRatios | null
}

/**
 * The ratios of the videos of a model. The price is multiplied by the ratio of the video's
 * resolution and by the ratios of all of the video's options.
 */
export type VideoRatios = {
  /** By resolution (`1080p`), or by resolution and length (`768p 10s`). */
  readonly resolutions: Readonly<Record<string, number>>
  /** By option: `pro` for the better mode, and `audio` for sound. */
  readonly options: Readonly<Record<string, number>>
  /**
   * The video that is made if the request names no resolution, length or option. `resolution` is
   * null if the vendor offers no choice of resolutions. `ratio` is the ratio of the video's
   * resolution, multiplied by the ratios of the video's options. If `resolutions` of the model is
   * empty, the price of every video without options is the model's price multiplied by this
   * `ratio`.
   */
  readonly default: {
    readonly resolution: string | null
    readonly options: readonly string[]
    readonly ratio: number
  }
}

/**
 * Returns the names of the resolutions and options whose ratios `videoPrice` may apply to the
 * models. The vendor offers no other resolutions and options, but may offer only some of these.
 */
export function namesOfVideoRatios(
  models: readonly string[],
  vendor: string,
): Readonly<Record<'resolutions' | 'options', readonly string[]>> {
  const { resolutions = {}, options = {} } = ruleOf(models, vendor)
  const own = Object.keys(resolutions)
  // The highest ratio applies to a resolution without a ratio.
  const others = [...RESOLUTIONS].filter(
    (name) => !own.some((one) => one === name || one.startsWith(`${name} `)),
  )
  return { resolutions: [...own, ...others], options: Object.keys(options) }
}

/**
 * Returns the unit of a video's price, for prices that are not per token. The arguments are those
 * of `videoPrice`. The ratios of `otherModelOf` are not computed, because this function is called
 * for every video model of each channel.
 */
export const unitOfVideo = (models: readonly string[], vendor: string): PriceUnit =>
  (firstRowOf(models) ?? OTHER_MODELS.get(vendor))?.per ?? 'second'

const ruleOf = (models: readonly string[], vendor: string): VideoPrice =>
  firstRowOf(models) ?? otherModelOf(vendor)

/** Returns the row of the first model in `models` that has a row. */
const firstRowOf = (models: readonly string[]): VideoPrice | undefined =>
  models.map(rowOf).find((row) => row !== undefined)

/** Returns a price per token with the ratio of sound as a condition of the call. */
function withSound(price: PerTokenPrice, models: readonly string[]): PriceSnapshot {
  if (models.some((model) => SOUND_INCLUDED.test(model))) return price
  const [audio = OTHER_SOUND] = models.flatMap((model) => ratioOfCondition('audio', model) ?? [])
  return { ...price, conditions: { ...price.conditions, audio } }
}

/**
 * Returns the row of a model, or the row of the longest listed name that the model is a version of.
 * A dated version such as `sora-2-2025-12-08` is therefore billed like its model.
 */
function rowOf(model: string): VideoPrice | undefined {
  const name = BY_MODEL.has(model) ? model : nameOfVersion(model, BY_MODEL.keys())
  return name === undefined ? undefined : BY_MODEL.get(name)
}

/**
 * Returns the highest of the ratios, but at least 1. This ratio applies to a resolution without a
 * ratio.
 */
const highestOf = (ratios: readonly DecimalText[]): DecimalText =>
  ratios.reduce(
    (highest, one) => (isAbove(decimalOf(one), decimalOf(highest)) ? one : highest),
    '1',
  )
