import type { Translations } from '#console/i18n/translation-types.ts'
import {
  add,
  type ExactDecimal,
  formatDecimal,
  fromInteger,
  multiply,
  parseDecimal,
  roundToInteger,
  subtract,
} from '#console/ui/quota/exact-decimal.ts'
import {
  callPriceOfBatch,
  type ListedPrice,
  listedPriceOf,
  type PriceProperty,
} from '#console/ui/quota/listed-price.ts'
import type { LoggedUsage, LogOther } from '#read-api/contract/logs.ts'

type PriceTermName = keyof Translations['logDetails']['term']

/** A factor of a term, such as a ratio. Factors have the same names as on the pricing page. */
type PriceFactor = {
  readonly value: string
} & (
  | { readonly name: FactorName }
  /** The ratio of a property of a video or an image, such as the resolution. */
  | { readonly name: 'property'; readonly property: PriceProperty }
)
type FactorName = keyof Translations['shared']['factor']

/**
 * One term of a call's charge, such as its output tokens. `count` is the number of units. `amount`
 * is in quota units and is the exact product of `count` and all factors.
 */
export type PriceTerm = {
  readonly name: PriceTermName
  /** For the term `tool`, the name of the provider's tool, such as `web_search`. */
  readonly tool?: string
  readonly count: number
  readonly factors: readonly PriceFactor[]
  readonly amount: string
}

/**
 * The terms that add up to the charge of a call. `sum` is the exact sum of the terms, and `total`
 * is the resulting charge. `rounding` is `total` minus `sum`. `isExact` is true if `total` equals
 * the stored charge plus `unpaid`.
 *
 * The charge of each line of a batch is rounded separately, but only the usage of all lines
 * together is known. For a batch, `total` is therefore the stored charge of all lines plus
 * `unpaid`, if this number can be a sum of rounded charges.
 */
export type PriceExplanation = {
  readonly mode: 'tokens' | 'call'
  readonly terms: readonly PriceTerm[]
  readonly sum: string
  readonly rounding: string
  readonly total: bigint
  readonly isExact: boolean
  /**
   * The number of lines of a batch that were charged. This number is omitted for a call that is not
   * a batch.
   */
  readonly lines?: number
  /** The part of the charges for the lines of a batch that the balance did not cover. */
  readonly unpaid?: bigint
}

const QUOTA_PER_DOLLAR = '500000'
/**
 * The price of a cache write for one hour, relative to a cache write for five minutes. The formula
 * in `domain/pricing/charge.ts` contains the same factor.
 */
const ONE_HOUR_CACHE_WRITE_FACTOR = '1.6'

/**
 * Splits a charge into terms with their factors, which are computed from the price and the usage in
 * a log row. Returns null for a row without a price, such as a top-up, an error, or a call that was
 * not charged. Also returns null if a factor is missing or invalid.
 */
export function explainPrice(other: LogOther, charged: bigint): PriceExplanation | null {
  const { usage = {}, batch_lines_billed: lines } = other
  const price = other.batch_id === undefined ? other.price : priceOfBatch(other)
  if (price === undefined) return null
  const mode = price.mode === 'call' ? 'call' : 'tokens'
  const counted = lines === undefined ? usage : { calls: usage.images ?? lines, ...usage }
  const drafts = mode === 'call' ? callTerms(counted, price.per) : tokenTerms(usage)
  const listed = listedPriceOf(price)
  const terms: PriceTerm[] = []
  let sum = fromInteger(0)
  const tools = Object.entries(usage.tools ?? {}).map(
    ([tool, count]): TermDraft => ({ name: 'tool', tool, count, factors: PER_CALL }),
  )
  for (const { factors, ...term } of [...drafts, ...tools]) {
    const { count } = term
    const isFree = term.tool !== undefined && price[`tool_${term.tool}`] === undefined
    if (count === 0 || isFree) continue
    const values = factorValues({ ...price, ...ofListedPrice(mode, listed) }, term)
    const properties = term.tool === undefined && mode === 'call' ? listed.properties : []
    const named = factors
      .flatMap((factor): PriceFactor[] => [
        { name: factor, value: values[factor] ?? '' },
        ...(PRICES.has(factor) ? properties.map(factorOf) : []),
      ])
      .concat(price.batch === undefined ? [] : [{ name: 'batch', value: price.batch }])
      .filter(({ name: factor, value }) => factor !== 'tier' || value !== '1')
    const amount = productOf(count, named)
    if (amount === null) return null
    terms.push({ ...term, factors: named, amount: formatDecimal(amount) })
    sum = add(sum, amount)
  }
  const rounded = sum.units > 0n ? atLeastOne(roundToInteger(sum)) : 0n
  const unpaid = BigInt(other.unpaid_quota ?? 0)
  const ofLines = charged + unpaid
  const isByLine = lines !== undefined && isRoundedByLine(ofLines, sum, lines)
  const total = isByLine ? ofLines : rounded
  return {
    mode,
    terms,
    sum: formatDecimal(sum),
    rounding: formatDecimal(subtract(fromInteger(total), sum)),
    total,
    isExact: total === ofLines,
    ...(lines === undefined ? {} : { lines }),
    ...(unpaid === 0n ? {} : { unpaid }),
  }
}

/**
 * Returns the price of the lines of a batch. The log row of a batch contains only the ratios of its
 * price. Returns undefined if the row lacks a ratio that the usage needs.
 */
function priceOfBatch(other: LogOther): Record<string, string> | undefined {
  const { batch_ratio: batch, model_ratio: model, model_price: price, usage = {} } = other
  const { image_ratio: image, image_completion_ratio: imageCompletion } = other
  const { tools = {}, inputImage = 0, outputImage = 0 } = usage
  const lacksImages =
    (inputImage > 0 && image === undefined) || (outputImage > 0 && imageCompletion === undefined)
  const isUnknown = Object.keys(tools).length > 0 || (price === undefined && lacksImages)
  if (batch === undefined || isUnknown) return undefined
  const shared = { batch, group: String(other.group_ratio ?? 1) }
  if (price !== undefined) return { mode: 'call', ...callPriceOfBatch(other, price), ...shared }
  if (model === undefined) return undefined
  return {
    ...{ mode: 'tokens', model: String(model), ...shared },
    completion: String(other.completion_ratio ?? ''),
    cacheRead: String(other.cache_ratio ?? ''),
    cacheWrite: String(other.cache_creation_ratio ?? ''),
    audio: String(other.audio_ratio ?? ''),
    audioCompletion: String(other.audio_completion_ratio ?? ''),
    ...(image === undefined ? {} : { image: String(image) }),
    ...(imageCompletion === undefined ? {} : { imageCompletion: String(imageCompletion) }),
  }
}

/**
 * Reports whether `total` can be the sum of the rounded charges of a batch's lines. `sum` is the
 * exact sum of the charges. Rounding lowers the charge of a line by at most half a unit. Rounding
 * raises it by less than one unit, because a charge is never rounded to 0.
 */
function isRoundedByLine(total: bigint, sum: ExactDecimal, lines: number): boolean {
  const { units, scale } = subtract(fromInteger(total), sum)
  const unit = 10n ** BigInt(scale)
  return units * 2n >= -BigInt(lines) * unit && units <= BigInt(lines) * unit
}

/**
 * The factors that are listed prices. In the factors of a term, the ratios of a video or an image
 * come directly after such a price.
 */
const PRICES: ReadonlySet<FactorName> = new Set(['price', 'pricePerSecond'])

const factorOf = (property: PriceProperty): PriceFactor => ({
  ...{ name: 'property', property, value: property.ratio },
})

const ofListedPrice = (mode: PriceExplanation['mode'], { price }: ListedPrice) =>
  mode === 'call' ? { price } : {}

type TermDraft = Pick<PriceTerm, 'name' | 'tool' | 'count'> & { factors: readonly FactorName[] }

const PER_CALL: readonly FactorName[] = ['price', 'quotaPerDollar', 'group']

const PER_SECOND: readonly FactorName[] = ['pricePerSecond', 'quotaPerDollar', 'group']

/**
 * Returns the term of a fixed price. `per` is the unit of the price, or undefined for a price per
 * call.
 */
const callTerms = ({ calls = 1, seconds }: LoggedUsage, per?: string): TermDraft[] =>
  per === undefined || seconds === undefined
    ? [{ name: 'calls', count: calls, factors: PER_CALL }]
    : [{ name: 'seconds', count: seconds, factors: PER_SECOND }]

function tokenTerms(usage: LoggedUsage): TermDraft[] {
  const { output = 0, outputAudio = 0, outputImage = 0 } = usage
  const text = Math.max(0, output - outputAudio - outputImage)
  const term = (name: PriceTermName, count = 0, ...own: FactorName[]): TermDraft => ({
    name,
    count,
    factors: [...own, 'tier', 'model', 'group'],
  })
  return [
    term('input', usage.inputUncached),
    term('cacheRead', usage.cacheRead, 'cacheRead'),
    term('cacheWrite5m', usage.cacheWrite5m, 'cacheWrite'),
    term('cacheWrite1h', usage.cacheWrite1h, 'cacheWrite', 'oneHour'),
    term('inputImage', usage.inputImage, 'image'),
    term('inputAudio', usage.inputAudio, 'audio'),
    term('output', text, 'completion'),
    term('outputAudio', outputAudio, 'audio', 'audioCompletion'),
    term('outputImage', outputImage, 'imageCompletion'),
  ]
}

type Values = Partial<Record<FactorName, string>>

function factorValues(price: Record<string, string>, { name, tool }: Partial<PriceTerm>): Values {
  const { tierInput = '1', tierOutput = '1' } = price
  const tier = name?.startsWith('output') ? tierOutput : tierInput
  const values: Values = {
    ...price,
    ...(price.price === undefined ? {} : { pricePerSecond: price.price }),
    quotaPerDollar: QUOTA_PER_DOLLAR,
    oneHour: ONE_HOUR_CACHE_WRITE_FACTOR,
    tier,
  }
  const perThousand = tool === undefined ? null : parseDecimal(price[`tool_${tool}`] ?? '')
  if (perThousand === null) return values
  return { ...values, price: formatDecimal(multiply(perThousand, { units: 1n, scale: 3 })) }
}

function productOf(count: number, factors: readonly PriceFactor[]): ExactDecimal | null {
  if (!Number.isSafeInteger(count) || count < 0) return null
  let product = fromInteger(count)
  for (const { value } of factors) {
    const factor = parseDecimal(value)
    if (factor === null) return null
    product = multiply(product, factor)
  }
  return product
}

const atLeastOne = (value: bigint): bigint => (value < 1n ? 1n : value)
