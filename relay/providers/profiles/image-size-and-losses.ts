/** A URL, a data URL, or the object that represents an uploaded file (see `relay/uploads`). */
type Picture = string | object

/**
 * The members of a request that contain the caller's images. Generations, edits in JSON, and edits
 * as forms have different members.
 */
type Pictures = {
  readonly image?: Picture | readonly Picture[] | null
  readonly 'image[]'?: readonly Picture[] | null
  readonly images?: readonly { readonly image_url?: string | null }[] | null
  readonly mask?: object | null
}

/** Lists the images of a request, without the mask. */
export function picturesOf({ image, images, ...others }: Pictures): readonly Picture[] {
  const listed = [image ?? [], others['image[]'] ?? []].flat()
  return [...listed, ...(images ?? []).flatMap(({ image_url: url }) => url ?? [])]
}

/** A request of OpenAI's images API with validated values. */
export type ImageRequest = {
  readonly prompt: string
  readonly n?: number | null
  readonly size?: string | null
  readonly quality?: string | null
  readonly response_format?: string | null
} & Pictures &
  Readonly<Record<'negative_prompt' | 'seed' | 'guidance_scale' | 'watermark' | 'user', unknown>> &
  /** Members of the vendors' own APIs that OpenAI's API does not have. */
  Readonly<Record<'aspect_ratio' | 'resolution' | 'image_size' | 'num_inference_steps', unknown>>

/**
 * Returns the width and height of a size in pixels. Returns null if the size is not given in
 * pixels.
 */
export const sidesOf = (size: string | null | undefined): readonly [number, number] | null => {
  const [, width, height] = /^(\d{1,5})[x*](\d{1,5})$/.exec(size ?? '') ?? []
  return width === undefined ? null : [Number(width), Number(height)]
}

const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9']
/** The aspect ratios of vendors whose models also generate images like those of 1536 by 1024. */
export const MORE_RATIOS: readonly string[] = [...RATIOS, '2:3', '3:2']

/**
 * Returns the aspect ratio in `ratios` that is closest to that of the size. Returns undefined if
 * the size is not given in pixels or a side is 0.
 */
export function aspectRatioOf(
  size: string | null | undefined,
  ratios: readonly string[] = RATIOS,
): string | undefined {
  const sides = sidesOf(size)
  if (sides === null || sides[0] * sides[1] === 0) return undefined
  const ratio = Math.log(sides[0] / sides[1])
  const distance = (name: string): number => {
    const [width = 1, height = 1] = name.split(':').map(Number)
    return Math.abs(Math.log(width / height) - ratio)
  }
  return ratios.toSorted((one, other) => distance(one) - distance(other))[0]
}

/** Reports whether a request's `aspect_ratio` has the form of a ratio, such as `16:9`. */
export const isRatio = (ratio: unknown): ratio is string =>
  typeof ratio === 'string' && /^\d{1,2}:\d{1,2}$/.test(ratio)

/**
 * The named sizes, each with the largest number of pixels of an image that counts as this size.
 * This number is the geometric mean of the pixels of this size and of the next larger one.
 */
const NAMED_SIZES = [
  ['256', 2 ** 17],
  ['512', 2 ** 19],
  ['1K', 2 ** 21],
  ['2K', 2 ** 23],
  ['4K', Number.POSITIVE_INFINITY],
] as const

/** A size that vendors name after the sides of a square image. Models generate `1K` by default. */
export type NamedSize = (typeof NAMED_SIZES)[number][0]

/**
 * An image has the price of a large image if its longer side has at least this length in pixels.
 */
const LARGE_SIDE = 1_792

/**
 * Returns the requested size if it is a named size. For a size in pixels, returns the named size
 * with the nearest number of pixels, but at most `1K` if the longer side is shorter than
 * `LARGE_SIDE`. Returns null for any other size, and if a side is 0.
 */
function namedSizeOf(size: string | null | undefined): NamedSize | null {
  const sides = sidesOf(size)
  if (sides === null) return NAMED_SIZES.find(([name]) => name === size)?.[0] ?? null
  const pixels = sides[0] * sides[1]
  if (pixels === 0) return null
  const named = NAMED_SIZES.find(([, most]) => pixels <= most)?.[0] ?? null
  const isLarge = named === '2K' || named === '4K'
  return isLarge && Math.max(...sides) < LARGE_SIDE ? '1K' : named
}

/**
 * The named sizes that each vendor's models generate. All these models generate `1K` by default. A
 * model that is not listed generates only `1K`.
 */
const SIZES_OF_MODELS: Readonly<
  Record<
    'imagen' | 'geminiContent' | 'xai' | 'replicate',
    readonly (readonly [models: RegExp, sizes: readonly NamedSize[]])[]
  >
> = {
  // ai.google.dev/gemini-api/docs/imagen
  imagen: [[/^imagen-4\.0-(?:ultra-)?generate-\d/, ['1K', '2K']]],
  // ai.google.dev/gemini-api/docs/image-generation
  geminiContent: [[/^gemini-(?:[3-9]|\d\d)/, ['1K', '2K', '4K']]],
  // docs.x.ai/docs/guides/image-generations
  xai: [[/imagine/, ['1K', '2K']]],
  // replicate.com/black-forest-labs/flux-schnell and flux-dev, by their input `megapixels`
  replicate: [[/flux-(?:schnell|dev)(?!\w)/, ['512', '1K']]],
}

/**
 * Returns the named size that corresponds to the requested size, if the model can generate it.
 * Otherwise returns null, and the images have the model's default size.
 */
export function offeredSizeOf(
  vendor: keyof typeof SIZES_OF_MODELS,
  size: string | null | undefined,
  model: string,
): NamedSize | null {
  const named = namedSizeOf(size)
  const [, names = USUAL] = SIZES_OF_MODELS[vendor].find(([models]) => models.test(model)) ?? []
  return named !== null && names.includes(named) ? named : null
}

const USUAL: readonly NamedSize[] = ['1K']

/**
 * Reports whether a model of Replicate generates its smallest images (a quarter of a megapixel) if
 * this size is requested.
 */
export const isQuarterMegapixel = (size: string | null | undefined, model: string): boolean => {
  const named = namedSizeOf(size)
  const isSmall = named === '256' || named === '512'
  return isSmall && offeredSizeOf('replicate', '512', model) === '512'
}

/** Matches Replicate's models that take a width and a height instead of an aspect ratio. */
const BY_SIDES = /sdxl|stable-diffusion(?!-3)|playground/
/**
 * Matches Replicate's models that take a width and a height only together with the size `custom`.
 */
const BY_CUSTOM_SIZE = /seedream-4/
const CUSTOM_SIDES = [1_024, 4_096] as const
/**
 * The smallest and the largest side of an image that MiniMax generates. All sides are multiples of
 * 8.
 */
const MINIMAX_SIDES = [512, 2_048] as const

const areWithin = (
  sides: readonly [number, number] | null,
  [least, most]: readonly [number, number],
): sides is readonly [number, number] =>
  sides?.every((side) => side >= least && side <= most) === true

/**
 * Returns the width and the height in pixels that are sent to a model of Replicate, and the
 * `members` that must accompany them. Returns null if no width and height are sent.
 */
export function replicateSidesOf(size: string | null | undefined, model: string) {
  const sides = sidesOf(size)
  if (BY_SIDES.test(model)) return sides === null ? null : { sides, members: {} }
  const isCustom = BY_CUSTOM_SIZE.test(model) && areWithin(sides, CUSTOM_SIDES)
  return isCustom ? { sides, members: { size: 'custom' } } : null
}

/**
 * Returns the width and the height in pixels that are sent to a model of MiniMax. Returns null if
 * none are sent. Only the model `image-01` accepts sides (platform.minimax.io/docs/api-reference).
 */
function miniMaxSidesOf(size: string | null | undefined, model: string) {
  const sides = sidesOf(size)
  const isAccepted =
    model === 'image-01' && areWithin(sides, MINIMAX_SIDES) && sides.every((side) => side % 8 === 0)
  return isAccepted ? sides : null
}

/** Reports whether a model of Replicate takes an aspect ratio. */
export const takesRatioAtReplicate = (model: string): boolean => !BY_SIDES.test(model)

/**
 * Returns the width and the height that are sent to MiniMax. None are sent with the request's own
 * aspect ratio, because MiniMax would ignore them.
 */
export const sidesAtMiniMax = (
  { size, aspect_ratio: own }: Pick<ImageRequest, 'size' | 'aspect_ratio'>,
  model: string,
) => (isRatio(own) ? null : miniMaxSidesOf(size, model))

/** Matches the models of DashScope that also accept a named size, such as `2K`. */
const NAMED_AT_DASH_SCOPE = /^wan(?:2\.(?:[6-9]|\d\d)|[3-9])[\w.]*-image/
const NAMES_AT_DASH_SCOPE: ReadonlySet<unknown> = new Set(['1K', '2K', '4K'])

/** Returns the size that is sent to a model of DashScope, or null if none is sent. */
export function dashScopeSizeOf(size: string | null | undefined, model: string): string | null {
  const isNamed = NAMES_AT_DASH_SCOPE.has(size) && NAMED_AT_DASH_SCOPE.test(model)
  return isNamed ? (size ?? null) : (sidesOf(size)?.join('x') ?? null)
}

/** Matches xAI's models that take an aspect ratio. Earlier models take no size at all. */
const XAI_MODELS_WITH_RATIO = /imagine/
/**
 * The values of `quality` that xAI accepts. Models before `grok-imagine-image-2.0` ignore the
 * member.
 */
const XAI_QUALITIES: ReadonlySet<unknown> = new Set(['low', 'medium', 'high'])
const XAI_MODELS_WITH_QUALITY = /imagine-image-(?:[2-9]|\d\d)/

/** Returns the quality that is sent to a model of xAI, or null if none is sent. */
export const xaiQualityOf = (quality: unknown, model: string): string | null =>
  XAI_MODELS_WITH_QUALITY.test(model) && XAI_QUALITIES.has(quality) ? String(quality) : null

/** Maps each value of xAI's member `resolution` to the named size of the images. */
const XAI_RESOLUTIONS = new Map<unknown, NamedSize>([
  ['1k', '1K'],
  ['2k', '2K'],
])
const XAI_RATIO = /^(?:auto|\d{1,2}(?:\.5)?:\d{1,2}(?:\.5)?)$/

/**
 * Returns the named size of the images that a request to xAI states. xAI's member `resolution`
 * takes precedence over `size`. Returns null if the model accepts neither member, or can't generate
 * the size.
 */
export const xaiSizeOf = (
  { size, resolution }: Partial<Pick<ImageRequest, 'size' | 'resolution'>>,
  model: string,
): NamedSize | null =>
  XAI_MODELS_WITH_RATIO.test(model)
    ? (XAI_RESOLUTIONS.get(resolution) ?? offeredSizeOf('xai', size, model))
    : null

/**
 * Returns the value of `resolution` that is sent to a model of xAI, or undefined if none is sent.
 */
export function xaiResolutionOf(request: Parameters<typeof xaiSizeOf>[0], model: string): unknown {
  const isOwn = XAI_MODELS_WITH_RATIO.test(model) && XAI_RESOLUTIONS.has(request.resolution)
  if (isOwn) return request.resolution
  return xaiSizeOf(request, model) === '2K' ? '2k' : undefined
}

/**
 * Returns the aspect ratio that is sent to a model of xAI. This is the request's `aspect_ratio` if
 * it is valid, and otherwise the ratio that is closest to `size`. Returns undefined if the model
 * accepts no aspect ratio or the request states none.
 */
export function xaiRatioOf(
  { size, aspect_ratio: ratio }: Partial<Pick<ImageRequest, 'size' | 'aspect_ratio'>>,
  model: string,
): string | undefined {
  if (!XAI_MODELS_WITH_RATIO.test(model)) return undefined
  return isXaiRatio(ratio) ? ratio : aspectRatioOf(size, MORE_RATIOS)
}

const isXaiRatio = (ratio: unknown): ratio is string =>
  typeof ratio === 'string' && XAI_RATIO.test(ratio)

/** Reports whether this value of a member is sent to this model of the provider. */
type Carries = (value: unknown, model: string) => boolean

/** Returns a check for the member `size`, which rejects values that are not texts. */
const ofSize =
  (isCarried: (size: string, model: string) => boolean): Carries =>
  (size, model) =>
    typeof size === 'string' && isCarried(size, model)

const always: Carries = () => true
const ofPixels = ofSize((size) => sidesOf(size) !== null)
const dataOnly: Carries = (format) => format === 'b64_json'
const eitherFormat: Carries = (format) => format === 'url' || format === 'b64_json'

/**
 * The members that are never reported as lost, because every adapter sends them or refuses the
 * request. `stream` is among them, because complete answers are rendered as streams.
 */
const BY_ALL = {
  ...{ model: always, prompt: always, n: always, stream: always },
  ...{ image: always, 'image[]': always, images: always, mask: always },
}

type Members = Partial<Record<Exclude<keyof ImageRequest, keyof typeof BY_ALL>, Carries>>

const isUsual = (size: string): boolean => namedSizeOf(size) === '1K'

/**
 * The members that each adapter sends to the provider in addition to those of `BY_ALL`, each with a
 * check of the values that are sent. All other members are reported as lost, and adapters can't
 * read them. If only the aspect ratio of a size is sent, the size is also reported as lost, unless
 * the provider's images have nearly as many pixels as requested.
 */
const CARRIED = {
  imagen: {
    size: ofSize((size, model) => offeredSizeOf('imagen', size, model) !== null),
    response_format: dataOnly,
  },
  geminiContent: {
    size: ofSize((size, model) => offeredSizeOf('geminiContent', size, model) !== null),
    response_format: dataOnly,
  },
  siliconFlow: {
    ...{ size: always, response_format: eitherFormat },
    ...{ negative_prompt: always, seed: always, guidance_scale: always },
    ...{ image_size: ofSize(always), num_inference_steps: always },
  },
  miniMax: {
    size: ofSize((size, model) => miniMaxSidesOf(size, model) !== null || isUsual(size)),
    ...{ response_format: eitherFormat, seed: always, aspect_ratio: isRatio },
  },
  dashScope: {
    size: ofSize((size, model) => dashScopeSizeOf(size, model) !== null),
    ...{ response_format: eitherFormat, negative_prompt: always, seed: always, watermark: always },
  },
  zImage: { size: ofPixels, response_format: eitherFormat, seed: always },
  replicate: {
    size: ofSize(
      (size, model) =>
        replicateSidesOf(size, model) !== null || offeredSizeOf('replicate', size, model) !== null,
    ),
    ...{ response_format: eitherFormat, negative_prompt: always, seed: always },
    aspect_ratio: (ratio, model) => isRatio(ratio) && takesRatioAtReplicate(model),
  },
  xai: {
    size: ofSize(
      (size, model) =>
        XAI_MODELS_WITH_RATIO.test(model) && offeredSizeOf('xai', size, model) !== null,
    ),
    quality: (quality, model) => xaiQualityOf(quality, model) !== null,
    aspect_ratio: (ratio, model) => XAI_MODELS_WITH_RATIO.test(model) && isXaiRatio(ratio),
    resolution: (resolution, model) =>
      XAI_MODELS_WITH_RATIO.test(model) && XAI_RESOLUTIONS.has(resolution),
    ...{ response_format: eitherFormat, user: always },
  },
} as const satisfies Readonly<Record<string, Members>>

type AdapterName = keyof typeof CARRIED

/** The members of a request that an adapter may read. */
export type CarriedBy<Name extends AdapterName> = Pick<
  ImageRequest,
  'prompt' | 'n' | keyof Pictures | Extract<keyof (typeof CARRIED)[Name], keyof ImageRequest>
>

/**
 * Maps a member to the value that has no effect, for example because it leaves the choice to the
 * provider. Omitting a member with this value is not a loss.
 */
const WITHOUT_EFFECT: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...['size', 'quality', 'background', 'moderation'].map((name) => [name, 'auto'] as const),
  ['partial_images', 0],
])

/**
 * Returns a function for one adapter. The function returns the names of the request members that
 * the adapter does not send.
 */
export function lossesFor(
  name: AdapterName,
): (request: object, model: string) => readonly string[] {
  const carried = new Map<string, Carries>(Object.entries({ ...BY_ALL, ...CARRIED[name] }))
  return (request, model) =>
    Object.entries(request).flatMap(([member, value]) => {
      const isAbsent = value === null || WITHOUT_EFFECT.get(member) === value
      return isAbsent || carried.get(member)?.(value, model) ? [] : [member]
    })
}
