import type { OpenStatus } from '#domain/tasks/events.ts'
import type { VideoMedia } from '#domain/tasks/video-media.ts'
import { type RelayError, relayError } from '../../canonical/relay-error.ts'
import type { SubmitAnswer } from '../read-provider-task-answers.ts'
import { type JsonObject, TaskRequestError, textOf } from '../read-task-request-body.ts'

export type VideoAction = 'TEXT_TO_VIDEO' | 'IMAGE_TO_VIDEO' | 'REMIX'

/** A request for a video, independent of the caller's format and of the vendor. */
export type VideoRequest = {
  readonly action: VideoAction
  readonly model: string
  readonly prompt: string | null
  readonly negativePrompt: string | null
  /** The length of the video; null for the vendor's default. */
  readonly seconds: number | null
  /** Width and height, such as `1280x720`. */
  readonly size: string | null
  /** The resolution in lower case, such as `720p` or `4k`. */
  readonly resolution: string | null
  /** The aspect ratio, such as `16:9`. */
  readonly ratio: string | null
  /** Web addresses or data URLs: the first frame, or several references. */
  readonly images: readonly string[]
  /** The last frame. */
  readonly lastImage: string | null
  readonly seed: number | null
  readonly hasAudio: boolean | null
  readonly mode: 'std' | 'pro' | null
}

/** A request to a vendor. `body` is sent as JSON. */
export type VendorCall = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** The vendor's name for the model. It is needed in a cloud, whose address depends on it. */
  readonly model?: string
  /** True if the answer may contain a file, which a poll must not keep in memory. */
  readonly hasLongTexts?: true
}

/** A vendor's report on a task. */
export type VideoReport = {
  readonly status: OpenStatus | 'SUCCESS' | 'FAILURE'
  readonly progress?: string | null
  readonly failReason?: string | null
  /** True if the vendor does not know the task, which may then belong to another account. */
  readonly isMissing?: boolean
  /**
   * The location of the result: an address, an id at the vendor, or the media type of an inline
   * file.
   */
  readonly file?: string | null
  /** The seconds of the video, rounded up, if the vendor reports them. */
  readonly seconds?: number | null
  /** The tokens that the vendor bills, if it reports them. */
  readonly tokens?: number | null
}

/**
 * The source of a result: an address, or the vendor with the channel's key. `lookup` reads the
 * address from the vendor's answer to `call`. `inline` reads the file itself from this answer, as
 * the base64 text of `member`.
 */
export type FileSource =
  | { readonly kind: 'address'; readonly url: string; readonly needsKey?: true }
  | { readonly kind: 'vendor'; readonly path: string }
  | {
      readonly kind: 'lookup'
      readonly call: VendorCall
      readonly addressIn: (answer: JsonObject) => string | null
    }
  | {
      readonly kind: 'inline'
      readonly call: VendorCall
      readonly member: string
      /** The media type of the file. */
      readonly type: string
    }

export type SubmitContext = {
  /** The vendor's name for the model. */
  readonly model: string
  /** The vendor's id of the task that the request continues, or null. */
  readonly originId: string | null
}

/**
 * A vendor of videos: pure functions that write its requests and read its answers. The task code
 * sends the requests, polls, and handles prices and settlement. `upstreamId` contains all data that
 * a query needs.
 */
export type VideoVendor = {
  readonly platform: string
  /** The most pictures that a request may have as first frame or references. */
  readonly imagesMax: number
  /** False if the vendor takes no picture as last frame. */
  readonly takesLastImage: boolean
  /** Completes a request by the vendor's defaults. Throws `TaskRequestError` for a bad value. */
  readonly media: (request: VideoRequest, model: string) => VideoMedia
  readonly submit: (request: VideoRequest, media: VideoMedia, context: SubmitContext) => VendorCall
  readonly readSubmitted: (answer: JsonObject, call: VendorCall) => SubmitAnswer
  readonly query: (upstreamId: string) => VendorCall
  /** Returns null for an answer that can't be read. */
  readonly readReport: (answer: JsonObject) => VideoReport | null
  readonly source: (upstreamId: string, file: string) => FileSource
  /** Returns the headers that prove the key. The default is those of the channel's type. */
  readonly sign?: (
    key: string,
    request: { readonly url: URL; readonly method: string; readonly body: Buffer },
    nowMs: number,
  ) => Readonly<Record<string, string>>
}

export const reject = (param: string, values?: readonly (string | number)[]): never => {
  const error: RelayError =
    values === undefined
      ? relayError('invalid_parameter', { param })
      : relayError('video_option_invalid', { param, subject: values.join(', ') })
  throw new TaskRequestError(error)
}

/** Returns the requested value, or the first of the values that the vendor offers. */
export function choose<Value extends string | number>(
  param: string,
  requested: Value | null,
  values: readonly Value[],
): Value {
  if (requested === null) return values[0] as Value
  return values.includes(requested) ? requested : reject(param, values)
}

/** Throws `TaskRequestError` if a request has pictures that the vendor would not get. */
export function checkPictures(
  { images, lastImage }: VideoRequest,
  { imagesMax, takesLastImage }: Pick<VideoVendor, 'imagesMax' | 'takesLastImage'>,
): void {
  // Beside a last frame, there is only a first one.
  const most = lastImage === null ? imagesMax : Math.min(imagesMax, 1)
  if (images.length > most) rejectPictures('images', most)
  if (lastImage !== null && !takesLastImage) rejectPictures('last_image', 0)
}

const rejectPictures = (param: string, most: number): never => {
  throw new TaskRequestError(relayError('too_many_pictures', { param, subject: `${most}` }))
}

export function secondsWithin(requested: number | null, otherwise: number, range: Range): number {
  const seconds = requested ?? otherwise
  const isFit = Number.isInteger(seconds) && seconds >= range[0] && seconds <= range[1]
  return isFit ? seconds : reject('seconds', [`${range[0]}–${range[1]}`])
}
type Range = readonly [least: number, most: number]

/** Returns the resolution of a size, which is its shorter side: `720p` for `1280x720`. */
export function resolutionOf({ resolution, size }: VideoRequest): string | null {
  if (resolution !== null || size === null) return resolution
  const sides = sidesOf(size)
  return sides === null ? reject('size') : `${Math.min(...sides)}p`
}

const sidesOf = (size: string): readonly [number, number] | null => {
  const [, width, height] = /^([1-9]\d{1,3})[x*×]([1-9]\d{1,3})$/i.exec(size) ?? []
  return width === undefined || height === undefined ? null : [Number(width), Number(height)]
}

const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '3:2', '2:3'] as const

/** Returns the aspect ratio that was requested, or the nearest to the size. */
export function ratioOf({ ratio, size }: VideoRequest): string | null {
  if (ratio !== null) return /^\d{1,2}:\d{1,2}$/.test(ratio) ? ratio : reject('aspect_ratio')
  const sides = size === null ? null : sidesOf(size)
  if (sides === null) return null
  const distance = (one: string) => {
    const [width = 1, height = 1] = one.split(':').map(Number)
    return Math.abs(Math.log((sides[0] * height) / (sides[1] * width)))
  }
  return RATIOS.reduce((best, one) => (distance(one) < distance(best) ? one : best))
}

const DATA_URL = /^data:(image\/[\w.+-]+);base64,(.+)$/s

/** Returns the type and the base64 text of a data URL; null for a web address. */
export function dataUrl(image: string): { readonly type: string; readonly data: string } | null {
  const [, type, data] = DATA_URL.exec(image) ?? []
  return type === undefined || data === undefined ? null : { type, data }
}

/** Returns a picture for vendors that expect an address or base64 without a prefix. */
export const bareImage = (image: string): string => dataUrl(image)?.data ?? image

export const ID_LENGTH_MAX = 256
const WORDS_MAX = 16_384

export const accepted = (id: unknown, prefix = ''): SubmitAnswer => {
  const upstreamId = textOf(id, ID_LENGTH_MAX)
  if (upstreamId === null) return refused(null, null)
  const known = { upstreamId: `${prefix}${upstreamId}`, code: 1, description: null }
  return { isAccepted: true, ...known, status: 'SUBMITTED', properties: {} }
}

/** `code` is null if the answer can't be read. */
export const refused = (
  code: number | null,
  words: unknown,
  isAccountError = false,
): SubmitAnswer => ({ isAccepted: false, code, words: wordsOf(words), isAccountError })

export const wordsOf = (value: unknown): string | null => textOf(value, WORDS_MAX)

export const countOf = (value: unknown): number | null => {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof count === 'number' && Number.isFinite(count) && count >= 0
    ? Math.ceil(Math.min(count, 1e9))
    : null
}

/** Removes members without a value, so that vendors apply no checks to them. */
export const defined = (members: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  )
