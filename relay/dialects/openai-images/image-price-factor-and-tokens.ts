import type { DecimalText, PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import type { ChatRequest } from '../wire-format.ts'

const SIDES = /^([1-9]\d{0,4})[x*]([1-9]\d{0,4})$/
/** The length in pixels of the sides of the smallest images that providers make. */
const SIDE_MIN = 256
/** The sizes that have a name, each with its price factor at the usual quality. */
const NAMED: ReadonlyMap<string, 1 | 2> = new Map([
  ...(['auto', 'adaptive', '1K'] as const).map((name) => [name, 1] as const),
  ...(['2K', '3K', '4K'] as const).map((name) => [name, 2] as const),
])
/** The qualities that cost no more than the standard one. Any other quality is priced as `hd`. */
const USUAL_QUALITIES: ReadonlySet<string | null> = new Set([
  ...['standard', 'auto', 'low', 'medium', null],
])

/**
 * Returns the factor by which the price per image is multiplied. The factor is 0.4 for sides of 256
 * pixels, 0.45 for sides of at most 512 pixels, and 2 for an image with a side of 1792 pixels or
 * more. The factor is 1 for all sizes in between, and for a side below 256 pixels, because a
 * provider that ignores such a size makes an image of its usual size. High quality multiplies the
 * factor by 2, or only by 1.5 for the largest images. An unknown size counts as one of the largest,
 * and an unknown quality counts as high. These rules prevent a caller from getting a large image
 * for the price of a small one.
 */
export function imageFactorOf(size: string | null, quality: string | null): DecimalText {
  const isUsual = USUAL_QUALITIES.has(quality)
  const [, width, height] = SIDES.exec(size ?? '1024x1024') ?? []
  if (width !== undefined) {
    const [shorter = 0, longer = 0] = [Number(width), Number(height)].sort((a, b) => a - b)
    if (shorter < SIDE_MIN && longer < 1792) return isUsual ? '1' : '2'
    if (longer <= SIDE_MIN) return isUsual ? '0.4' : '0.8'
    if (longer <= 512) return isUsual ? '0.45' : '0.9'
    return longer < 1792 ? (isUsual ? '1' : '2') : isUsual ? '2' : '3'
  }
  const isSmall = NAMED.get(size ?? '') === 1
  if (isSmall) return isUsual ? '1' : '2'
  return isUsual ? '2' : '3'
}

/**
 * The numbers of output tokens of OpenAI's models for a square image and for any other image, by
 * quality. Newer models need up to 7 100 tokens for a square image of high quality.
 */
const TOKENS: ReadonlyMap<string, readonly [square: number, other: number]> = new Map([
  ['low', [272, 408]],
  ['medium', [1_056, 1_584]],
  ['high', [4_160, 6_240]],
])
const MOST: readonly [number, number] = [7_200, 7_200]
const OLDER_MODEL = /(?:^|\/)gpt-image-1(?:$|-)/
const USUAL_ROWS = 1_536
const USUAL_PIXELS = 1_024 * USUAL_ROWS
/** The number of output tokens of one partial image in a stream. */
const PARTIAL_IMAGE_TOKENS = 100

/** Returns the highest number of output tokens of one image, including its partial images. */
export function imageTokensOf(
  model: string,
  size: string | null,
  quality: string | null,
  partialImages: number,
): number {
  const byQuality = OLDER_MODEL.test(model) ? TOKENS.get(quality ?? 'auto') : undefined
  const [square, other] = byQuality ?? (OLDER_MODEL.test(model) ? [6_240, 6_240] : MOST)
  const [, width, height] = SIDES.exec(size ?? '') ?? []
  const pixels = Number(width ?? 0) * Number(height ?? 0)
  const tokens = size === '1024x1024' ? square : other
  const larger = Math.max(1, Math.min(64, pixels / USUAL_PIXELS))
  return Math.ceil(tokens * larger) + partialImages * PARTIAL_IMAGE_TOKENS
}

/**
 * Returns the number of tokens that are billed for delivered images without a usage report. Each
 * image counts as `outputTokensMax` tokens, and at most `choices` images are counted. Images with a
 * price per image have no tokens, because an invented number would count towards the limits on
 * tokens and be shown as usage.
 */
export const tokensOfImages = (
  { choices, outputTokensMax }: Pick<ChatRequest, 'choices' | 'outputTokensMax'>,
  images: number,
  { mode }: Pick<PriceSnapshot, 'mode'>,
): number => (mode === 'call' ? 0 : Math.min(images, choices) * (outputTokensMax ?? 0))

/**
 * The sizes below 1024 by 1024 pixels that a provider surely makes as requested. A provider that
 * does not know another small size may make an image of its usual size.
 */
const SMALL_SIZES: ReadonlySet<string> = new Set(['256x256', '512x512'])
const SQUARE_PIXELS = 1_024 * 1_024

/**
 * Returns the length in bytes that an image of this size has at most as base64, if nothing of it is
 * compressed. A pixel has three bytes, or four if it may be transparent. In a PNG, each row has one
 * byte more.
 */
export function base64BytesOf(size: string | null, isOpaque: boolean): number {
  const [, width, height] = SIDES.exec(size ?? '') ?? []
  const [columns, rows] = [Number(width ?? 0), Number(height ?? 0)]
  const isExact = columns * rows >= SQUARE_PIXELS || SMALL_SIZES.has(size ?? '')
  const pixels = isExact ? columns * rows : USUAL_PIXELS
  const bytes = pixels * (isOpaque ? 3 : 4) + (isExact ? rows : USUAL_ROWS)
  return Math.ceil((bytes * 4) / 3)
}

/**
 * The size and the quality in the request to the provider. Null means that the member is not sent
 * and the provider uses its default.
 */
export type SentImage = { readonly size: string | null; readonly quality: string | null }

/**
 * Returns the request with the price factor and the output limit of the images that are requested
 * from the provider. `model` is the provider's name for the model. Members that are not sent to the
 * provider do not affect the price.
 */
export const withSentImage = (
  request: ChatRequest,
  model: string,
  { size, quality }: SentImage,
): ChatRequest => ({
  ...request,
  imageFactor: imageFactorOf(size, quality),
  outputTokensMax: imageTokensOf(model, size, quality, 0),
})
