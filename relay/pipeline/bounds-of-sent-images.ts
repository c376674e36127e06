import { decimalOf, decimalText, integer, largest } from '#domain/pricing/decimal.ts'
import type { DecimalText } from '#domain/pricing/price-snapshot.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { VariantBounds } from './compute-hold-and-output-limit.ts'

/**
 * Returns the largest factor by which a variant multiplies the price of an image; undefined if no
 * images are generated.
 */
export function largestImageFactor(bounds: readonly VariantBounds[]): DecimalText | undefined {
  const factors = bounds.flatMap(({ imageFactor }) => imageFactor ?? [])
  return factors.length === 0
    ? undefined
    : decimalText(largest(integer(0), ...factors.map(decimalOf)))
}

/**
 * Returns a request for images with the largest number of images, price factor and output limit of
 * its variants, which are the requests as the channels send them. A size that no channel sends thus
 * neither raises nor lowers the hold. Any other request, and one without variants, is returned
 * unchanged.
 */
export function boundedBySentImages(
  request: ChatRequest,
  variants: readonly VariantBounds[],
): ChatRequest {
  const imageFactor = largestImageFactor(variants)
  if (request.imageFactor === undefined || imageFactor === undefined) return request
  const limits = variants.map(({ outputTokensMax }) => outputTokensMax)
  const outputTokensMax = limits.includes(null) ? null : Math.max(...limits.map(Number))
  const choices = Math.max(...variants.map((variant) => variant.choices))
  return { ...request, choices, imageFactor, outputTokensMax }
}
