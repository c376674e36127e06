import { QUOTA_PER_DOLLAR, type Quota } from '../shared/quota.ts'
import { HOUR_CACHE_FACTOR, hasUsage, inBatch, quotaOf, tierOf } from './charge.ts'
import { type Decimal, decimalOf, decimalText, integer, ONE, plus, times } from './decimal.ts'
import { ratioOfConditions } from './price-conditions.ts'
import type { DecimalText, PerTokenPrice, PriceSnapshot } from './price-snapshot.ts'
import { inputTokensOf, TOOL_NAMES, type Usage } from './usage.ts'

/**
 * One item of a charge: `units` × `price` × `ratio` = `amount`, in quota. All four are exact
 * decimals. `item` is the name of a count of the usage, `calls`, or a tool such as
 * `tool:web_search`.
 */
export type ChargeItem = {
  readonly item: string
  readonly units: DecimalText
  readonly price: DecimalText
  readonly ratio: DecimalText
  readonly amount: DecimalText
}

export type ItemizedCharge = {
  readonly items: readonly ChargeItem[]
  /** The exact sum of the items' amounts. */
  readonly sum: DecimalText
  /** The sum as whole quota. It equals `chargeFor` for the same arguments. */
  readonly charge: Quota
}

/**
 * Computes a charge item by item with the formulas of `chargeFor`. A price per call is multiplied
 * by `calls`.
 */
export function itemizeCharge(
  price: PriceSnapshot,
  usage: Usage,
  calls: number = hasUsage(usage) ? 1 : 0,
): ItemizedCharge {
  const group = decimalOf(price.group)
  const common = times(inBatch(price, group), ratioOfConditions(price, usage.conditions ?? []))
  const priced = [
    ...(price.mode === 'tokens'
      ? tokenItems(price, usage, common)
      : [callItem(price, usage, calls, common)]),
    ...toolItems(price, usage, group),
  ].filter(({ units }) => units > 0)
  let sum = integer(0)
  const items = priced.map(({ item, units, unit, ratio }) => {
    const amount = times(times(integer(units), unit), ratio)
    sum = plus(sum, amount)
    return {
      item,
      units: String(units),
      price: text(unit),
      ratio: text(ratio),
      amount: text(amount),
    }
  })
  return { items, sum: text(sum), charge: quotaOf(sum) }
}

type PricedItem = {
  readonly item: string
  readonly units: number
  readonly unit: Decimal
  readonly ratio: Decimal
}

function tokenItems(price: PerTokenPrice, usage: Usage, common: Decimal): PricedItem[] {
  const model = decimalOf(price.model)
  const tier = tierOf(price, inputTokensOf(usage))
  const input = tier === null ? common : times(common, decimalOf(tier.input))
  const output = tier === null ? common : times(common, decimalOf(tier.output))
  const { outputAudio, outputImage = 0 } = usage
  const audio = decimalOf(price.audio)
  const cacheWrite = decimalOf(price.cacheWrite)
  const rows: readonly [item: string, units: number, weight: Decimal, ratio: Decimal][] = [
    ['inputUncached', usage.inputUncached, ONE, input],
    ['cacheRead', usage.cacheRead, decimalOf(price.cacheRead), input],
    ['cacheWrite5m', usage.cacheWrite5m, cacheWrite, input],
    ['cacheWrite1h', usage.cacheWrite1h, times(cacheWrite, HOUR_CACHE_FACTOR), input],
    ['inputImage', usage.inputImage, decimalOf(price.image), input],
    ['inputAudio', usage.inputAudio, audio, input],
    ['output', usage.output - outputAudio - outputImage, decimalOf(price.completion), output],
    ['outputAudio', outputAudio, times(audio, decimalOf(price.audioCompletion)), output],
    ['outputImage', outputImage, decimalOf(price.imageCompletion ?? price.completion), output],
  ]
  return rows.map(([item, units, weight, ratio]) => ({
    ...{ item, units, ratio },
    unit: times(model, weight),
  }))
}

/**
 * Returns the item of a price per call or second. The unit price is the list price, and the ratio
 * includes the factors of an image or a video.
 */
function callItem(
  price: Exclude<PriceSnapshot, PerTokenPrice>,
  { seconds }: Usage,
  calls: number,
  common: Decimal,
): PricedItem {
  const { imageFactor = '1', factors = [] } = price
  const unit = times(decimalOf(price.price), integer(QUOTA_PER_DOLLAR))
  const ratio = [imageFactor, ...factors.map((factor) => factor.ratio)].reduce(
    (product, factor) => times(product, decimalOf(factor)),
    common,
  )
  if (price.per === 'second') return { item: 'seconds', units: seconds, unit, ratio }
  const item = price.imageFactor === undefined ? 'calls' : 'images'
  return { item, units: calls, unit, ratio }
}

function toolItems({ tools = {} }: PriceSnapshot, { tools: uses = {} }: Usage, group: Decimal) {
  return TOOL_NAMES.flatMap((name): PricedItem[] => {
    const [dollars, units = 0] = [tools[name], uses[name]]
    if (dollars === undefined) return []
    const unit = times(
      times(decimalOf(dollars), { units: 1n, scale: 3 }),
      integer(QUOTA_PER_DOLLAR),
    )
    return [{ item: `tool:${name}`, units, unit, ratio: group }]
  })
}

/** Formats a decimal without trailing zeros after the decimal point. */
function text({ units, scale }: Decimal): DecimalText {
  const digits = decimalText({ units, scale })
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}
