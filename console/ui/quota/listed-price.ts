import type { TFunction } from 'i18next'
import {
  divide,
  type ExactDecimal,
  formatDecimal,
  fromInteger,
  multiply,
  parseDecimal,
} from './exact-decimal.ts'

/** A property of a video or an image that multiplies its listed price. */
export type PriceProperty = {
  readonly kind: 'resolution' | 'pro' | 'audio' | 'image' | 'other'
  /** The resolution, such as `768p · 10 s`, or the name of the option. */
  readonly name: string
  readonly ratio: string
}

/**
 * A fixed price as the price list shows it. The unit price of a call is this price multiplied by
 * the ratios of all properties.
 */
export type ListedPrice = {
  readonly price: string
  readonly properties: readonly PriceProperty[]
}

const FACTOR = 'factor_'

/**
 * Splits the unit price in the price of a log row into the listed price and the ratios of the
 * requested properties, such as the resolution of a video. If the unit price is not the exact
 * product of these values, the whole unit price is returned as the listed price.
 */
export function listedPriceOf(price: Readonly<Record<string, string>>): ListedPrice {
  const { price: unitPrice = '', imageFactor } = price
  const properties: PriceProperty[] = Object.entries(price)
    .filter(([name, ratio]) => name.startsWith(FACTOR) && ratio !== '1')
    .map(([name, ratio]) => ({ ...kindAndNameOf(name.slice(FACTOR.length)), ratio }))
  if (imageFactor !== undefined && imageFactor !== '1') {
    properties.push({ kind: 'image', name: '', ratio: imageFactor })
  }
  const listed = quotientOf(unitPrice, properties)
  if (listed === null) return { price: unitPrice, properties: [] }
  return { price: listed, properties }
}

/** Reports whether the price of a log row is the price of a video or an image. */
export const isPriceOfMedia = (price: Readonly<Record<string, string>>): boolean =>
  price.per !== undefined ||
  price.imageFactor !== undefined ||
  Object.keys(price).some((name) => name.startsWith(FACTOR))

/** Returns the name of a property that a price depends on. */
export const priceProperty = (t: TFunction, { kind, name }: PriceProperty): string =>
  t(`shared.priceProperty.${kind}`, { name })

function kindAndNameOf(name: string): Pick<PriceProperty, 'kind' | 'name'> {
  if (name === 'pro' || name === 'audio') return { kind: name, name }
  return { kind: /^\d/.test(name) ? 'resolution' : 'other', name: resolutionText(name) }
}

/** Formats a resolution with a length, such as `768p 10s`, as `768p · 10 s`. */
export const resolutionText = (name: string): string => name.replace(/ (\d+)s$/, ' · $1 s')

/**
 * Returns the exact quotient of a price and all ratios. Returns null if the quotient has too many
 * decimals, or if a text is not a number.
 */
function quotientOf(price: string, properties: readonly PriceProperty[]): string | null {
  const dividend = parseDecimal(price)
  if (dividend === null) return null
  let product: ExactDecimal = fromInteger(1)
  for (const { ratio } of properties) {
    const factor = parseDecimal(ratio)
    if (factor === null) return null
    product = multiply(product, factor)
  }
  const quotient = divide(dividend, product)
  if (quotient === null) return null
  const isExact = formatDecimal(multiply(quotient, product)) === formatDecimal(dividend)
  return isExact ? formatDecimal(quotient) : null
}

/** Returns the price per call of a batch's lines, or per image with the factor of the images. */
export function callPriceOfBatch(
  { image_factor: imageFactor }: { readonly image_factor?: string },
  listed: number,
): Readonly<Record<string, string>> {
  const [price, factor] = [parseDecimal(String(listed)), parseDecimal(imageFactor ?? '')]
  if (imageFactor === undefined || price === null || factor === null) {
    return { price: String(listed) }
  }
  return { price: formatDecimal(multiply(price, factor)), imageFactor }
}
