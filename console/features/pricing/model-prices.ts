import type { Tone } from '#console/ui/elements/status-tag.tsx'
import {
  add,
  divide,
  type ExactDecimal,
  formatDecimal,
  fromInteger,
  multiply,
  parseDecimal,
  roundToInteger,
} from '#console/ui/quota/exact-decimal.ts'
import { resolutionText } from '#console/ui/quota/listed-price.ts'
import { groupDigits } from '#console/ui/quota/money.ts'
import { type ShownUnit, shownUnit } from '#console/ui/quota/price-unit.ts'
import type { PricedModel } from '#read-api/contract/pricing.ts'

/** The price in dollars of a million input tokens at ratio 1. */
const BASE = fromInteger(2)
const QUOTA_PER_DOLLAR = fromInteger(500_000)
const ZERO = fromInteger(0)

/**
 * Returns the unit of a model's fixed price in a group: a call, a second of a video, or both. If
 * `group` is null or does not have the model, returns the unit for all groups, which is both if
 * their units differ.
 */
export function unitIn(
  { price_per, price_units: units }: PricedModel,
  group: string | null = null,
): ShownUnit {
  if (units === undefined) return price_per === 'second' ? 'Second' : 'Call'
  const ofGroup = group !== null && Object.hasOwn(units, group) ? units[group] : undefined
  return shownUnit(ofGroup ?? Object.values(units).flat())
}

/**
 * Converts a JavaScript number to an exact decimal. The conversion uses the shortest decimal text
 * of the number, which contains no binary rounding errors.
 */
const exact = (value: number): ExactDecimal => parseDecimal(String(value)) ?? ZERO

/**
 * Rounds a price to 12 decimals. Ratios have up to 16 digits, and the last digit can be wrong: the
 * API sends 3.3333333333333335 for 10/3.
 */
const rounded = (price: ExactDecimal): ExactDecimal => divide(price, fromInteger(1), 12) ?? price

/**
 * The prices of a model for a group, in dollars per million tokens, or per call or second of a
 * video.
 */
type GroupPrices =
  | {
      readonly mode: 'tokens'
      readonly input: ExactDecimal
      readonly output: ExactDecimal
      /** The price of cached input, or null if cached input costs the same as other input. */
      readonly cached: ExactDecimal | null
    }
  | { readonly mode: 'call'; readonly call: ExactDecimal }

export function pricesIn(model: PricedModel, groupRatio: number): GroupPrices {
  const group = exact(groupRatio)
  if (model.quota_type === 1) {
    return { mode: 'call', call: rounded(multiply(exact(model.model_price), group)) }
  }
  const input = multiply(multiply(exact(model.model_ratio), BASE), group)
  const isCached = model.cache_ratio !== 1
  return {
    mode: 'tokens',
    input: rounded(input),
    output: rounded(multiply(input, exact(model.completion_ratio))),
    cached: isCached ? rounded(multiply(input, exact(model.cache_ratio))) : null,
  }
}

/** The prices of audio or images in a group, in dollars per million tokens. */
type MediumPrices = {
  readonly medium: 'audio' | 'image'
  readonly input: ExactDecimal
  readonly output: ExactDecimal
}

/** Reports whether audio or images have other prices than text. */
export const hasMediaPrices = (model: PricedModel): boolean =>
  model.audio_ratio !== undefined ||
  model.image_ratio !== undefined ||
  model.image_completion_ratio !== undefined

/**
 * Returns the prices of the media that do not cost the same as text. Without a ratio for answers,
 * audio in answers costs the same as in the input, and images in answers cost the same as text in
 * answers.
 */
export function mediaPricesIn(model: PricedModel, groupRatio: number): readonly MediumPrices[] {
  const { audio_ratio: audio, audio_completion_ratio: audioCompletion = 1 } = model
  const { image_ratio: image = 1, image_completion_ratio: imageCompletion } = model
  const text = multiply(multiply(exact(model.model_ratio), BASE), exact(groupRatio))
  const times = (price: ExactDecimal, ratio: number) => rounded(multiply(price, exact(ratio)))
  const prices: MediumPrices[] = []
  if (audio !== undefined) {
    const input = multiply(text, exact(audio))
    prices.push({ medium: 'audio', input: rounded(input), output: times(input, audioCompletion) })
  }
  if (model.image_ratio !== undefined || imageCompletion !== undefined) {
    const output = times(text, imageCompletion ?? model.completion_ratio)
    prices.push({ medium: 'image', input: times(text, image), output })
  }
  return prices
}

/** The price of one kind of video in a group. */
type VideoPrice = {
  /**
   * `usual` is the default video. This kind is used only if the default video is not one of the
   * listed resolutions without options.
   */
  readonly kind: 'usual' | 'resolution' | 'pro' | 'audio' | 'other'
  /** The resolution, such as `768p · 10 s`, or the name of the option. */
  readonly name: string
  readonly ratio: number
  readonly price: ExactDecimal
  readonly isDefault: boolean
}

/**
 * Returns the prices of the default video and of the kinds of video that have a ratio, in dollars
 * per call or second. The price of an option is the price of the default video with this option:
 * the ratios of both are multiplied. Options of the default video are not listed separately.
 */
export function videoPricesIn(model: PricedModel, groupRatio: number): readonly VideoPrice[] {
  const { video_ratios: ratios } = model
  if (ratios === undefined) return []
  const call = multiply(exact(model.model_price), exact(groupRatio))
  const { resolution, options, ratio: usual } = ratios.default
  const isPlain = options.length === 0
  const priceOf = (
    kind: VideoPrice['kind'],
    name: string,
    ratio: number,
    isDefault: boolean,
  ): VideoPrice => {
    // The API sends ratios such as 5/3 with ten decimals.
    const price = divide(multiply(call, exact(ratio)), fromInteger(1), 9) ?? call
    return { kind, name, ratio, price, isDefault }
  }
  const resolutions = Object.entries(ratios.resolutions).map(([name, ratio]) => {
    return priceOf('resolution', resolutionText(name), ratio, isPlain && name === resolution)
  })
  const isListed = resolutions.some(({ isDefault }) => isDefault)
  return [
    ...(isListed ? [] : [priceOf('usual', '', usual, true)]),
    ...resolutions,
    ...Object.entries(ratios.options)
      .filter(([name]) => !options.includes(name))
      .map(([name, ratio]) => priceOf(optionKindOf(name), name, usual * ratio, false)),
  ]
}

const optionKindOf = (name: string): VideoPrice['kind'] =>
  name === 'pro' || name === 'audio' ? name : 'other'

/**
 * Returns the model with the ratios that apply to an input of `prompt` tokens. Some models have
 * different ratios for long inputs.
 */
export function modelAtLength(model: PricedModel, prompt: number): PricedModel {
  const tier = model.context_tiers?.findLast(
    ({ above_input_tokens }) => prompt > above_input_tokens,
  )
  if (tier === undefined) return model
  const completion_ratio = (model.completion_ratio * tier.output_ratio) / tier.input_ratio
  return { ...model, model_ratio: model.model_ratio * tier.input_ratio, completion_ratio }
}

/** Returns the cost of a call in dollars. At ratio 1, a million tokens cost $2. */
export function costOf(
  model: PricedModel,
  groupRatio: number,
  tokens: { readonly prompt: number; readonly completion: number },
): ExactDecimal {
  const group = exact(groupRatio)
  if (model.quota_type === 1) return multiply(exact(model.model_price), group)
  const counted = add(
    fromInteger(tokens.prompt),
    multiply(fromInteger(tokens.completion), exact(model.completion_ratio)),
  )
  const quota = multiply(multiply(group, exact(model.model_ratio)), counted)
  return divide(quota, QUOTA_PER_DOLLAR) ?? ZERO
}

/**
 * Formats a price in dollars with three decimals, such as `$0.075`. The price is rounded to the
 * nearest thousandth of a dollar, and exactly half a thousandth is rounded up.
 */
export const threeDecimalText = (price: ExactDecimal): string => {
  const thousandths = roundToInteger(multiply(price, fromInteger(1_000)))
  const digits = String(thousandths).padStart(4, '0')
  return `$${groupDigits(`${digits.slice(0, -3)}.${digits.slice(-3)}`)}`
}

/** Formats a price in dollars with all its decimals, but with at least three. */
const allDecimalsText = (price: ExactDecimal): string => {
  const [integer = '0', fraction = ''] = formatDecimal(price).split('.')
  return `$${groupDigits(`${integer}.${fraction.padEnd(3, '0')}`)}`
}

const decimalsOf = (text: string): number => text.split('.')[1]?.length ?? 0

/**
 * Formats a price in dollars, with at least three decimals. A price with up to six decimals is
 * shown exactly. A longer price is rounded to four significant digits or to three decimals,
 * whichever keeps more digits.
 */
export function shortPriceText(price: ExactDecimal): string {
  const text = formatDecimal(price)
  if (decimalsOf(text) <= 6) return allDecimalsText(price)
  const places = Math.max(3, 3 - Math.floor(Math.log10(Number(text))))
  return allDecimalsText(divide(price, fromInteger(1), places) ?? price)
}

/**
 * Formats a ratio with all its decimals. A ratio with more than four decimals is rounded to four
 * significant digits.
 */
export function shortRatioText(ratio: number): string {
  const text = exactRatioText(ratio)
  return decimalsOf(text) <= 4 ? text : exactRatioText(Number(ratio.toPrecision(4)))
}

export const exactRatioText = (ratio: number): string => formatDecimal(exact(ratio))

export const sortPrice = (model: PricedModel, column: 'input' | 'output'): number =>
  model.quota_type === 1
    ? model.model_price
    : model.model_ratio * 2 * (column === 'output' ? model.completion_ratio : 1)

export const ratioTone = (ratio: number): Tone =>
  ratio > 5 ? 'bad' : ratio > 3 ? 'warn' : ratio > 1 ? 'info' : 'good'
