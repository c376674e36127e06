/** A request of OpenAI's images API with validated values. */
export type ImageRequest = {
  readonly prompt: string
  readonly n?: number | null
  readonly size?: string | null
  readonly response_format?: string | null
  readonly image?: string | readonly string[] | null
} & Readonly<Record<'negative_prompt' | 'seed' | 'guidance_scale' | 'watermark', unknown>>

/**
 * Returns the width and height of a size in pixels. Returns null if the size is not given in
 * pixels.
 */
export const sidesOf = (size: string | null | undefined): readonly [number, number] | null => {
  const [, width, height] = /^(\d{1,5})[x*](\d{1,5})$/.exec(size ?? '') ?? []
  return width === undefined ? null : [Number(width), Number(height)]
}

const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'] as const

/**
 * Returns the aspect ratio that is closest to the size. Returns undefined if the size is not given
 * in pixels.
 */
export function aspectRatioOf(size: string | null | undefined): string | undefined {
  const sides = sidesOf(size)
  if (sides === null || sides[0] * sides[1] === 0) return undefined
  const ratio = Math.log(sides[0] / sides[1])
  const distance = (name: string): number => {
    const [width = 1, height = 1] = name.split(':').map(Number)
    return Math.abs(Math.log(width / height) - ratio)
  }
  return RATIOS.toSorted((one, other) => distance(one) - distance(other))[0]
}

type Carries = (value: unknown) => boolean

const always: Carries = () => true
const ofPixels: Carries = (size) => typeof size === 'string' && sidesOf(size) !== null
const withRatio: Carries = (size) => typeof size === 'string' && !!aspectRatioOf(size)
const dataOnly: Carries = (format) => format === 'b64_json'
const eitherFormat: Carries = (format) => format === 'url' || format === 'b64_json'

/**
 * The members that every adapter sends or refuses. `stream` is among them, because complete answers
 * are rendered as streams.
 */
const BY_ALL = { model: always, prompt: always, n: always, image: always, stream: always }

type Members = Partial<Record<Exclude<keyof ImageRequest, keyof typeof BY_ALL>, Carries>>

/**
 * The further members that each adapter sends to the provider, each with a check of the accepted
 * values. An adapter can read only these members of a request. All other members are reported as
 * lost.
 */
const CARRIED = {
  imagen: { size: withRatio, response_format: dataOnly },
  geminiContent: { size: withRatio, response_format: dataOnly },
  siliconFlow: {
    ...{ size: always, response_format: eitherFormat },
    ...{ negative_prompt: always, seed: always, guidance_scale: always },
  },
  miniMax: { size: withRatio, response_format: eitherFormat, seed: always },
  dashScope: {
    ...{ size: ofPixels, response_format: eitherFormat },
    ...{ negative_prompt: always, seed: always, watermark: always },
  },
  replicate: {
    ...{ size: withRatio, response_format: eitherFormat },
    ...{ negative_prompt: always, seed: always },
  },
} as const satisfies Readonly<Record<string, Members>>

type AdapterName = keyof typeof CARRIED

/** The members of a request that an adapter may read. */
export type CarriedBy<Name extends AdapterName> = Pick<
  ImageRequest,
  'prompt' | 'n' | 'image' | Extract<keyof (typeof CARRIED)[Name], keyof ImageRequest>
>

/** Values that leave the choice to the provider, so that omitting them is not a loss. */
const WITHOUT_EFFECT: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...['size', 'quality', 'background', 'moderation'].map((name) => [name, 'auto'] as const),
  ['partial_images', 0],
])

/**
 * Returns a function that returns the names of the members of a request that an adapter does not
 * send.
 */
export function lossesFor(name: AdapterName): (request: object) => readonly string[] {
  const carried = new Map<string, Carries>(Object.entries({ ...BY_ALL, ...CARRIED[name] }))
  return (request) =>
    Object.entries(request).flatMap(([member, value]) => {
      const isAbsent = value === null || WITHOUT_EFFECT.get(member) === value
      return isAbsent || carried.get(member)?.(value) ? [] : [member]
    })
}
