import type { OpenStatus, VideoMedia } from '#domain/tasks/events.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { relayError } from '../../canonical/relay-error.ts'
import { boundedTextOf } from '../parse-provider-json.ts'
import type { RefusalCause, SubmitAnswer } from '../read-provider-task-answers.ts'
import { rejectParam, TaskRequestError } from '../read-task-request-body.ts'

export type VideoAction = 'TEXT_TO_VIDEO' | 'IMAGE_TO_VIDEO' | 'REMIX'

/** A request for a video, independent of the caller's format and of the vendor. */
export type VideoRequest = {
  readonly action: VideoAction
  readonly model: string
  readonly prompt: string | null
  readonly negativePrompt: string | null
  /**
   * The requested length of the video in seconds; null for the vendor's default. NaN if the caller
   * sent another value than an integer, which vendors refuse.
   */
  readonly seconds: number | null
  /** The requested width and height in pixels, such as `1280x720`; null if none was requested. */
  readonly size: string | null
  /** The requested resolution in lower case, such as `720p` or `4k`; null if none was requested. */
  readonly resolution: string | null
  /** The requested aspect ratio, such as `16:9`; null if none was requested. */
  readonly ratio: string | null
  /**
   * Pictures as web URLs or data URLs. One picture is the first frame of the video, and several
   * pictures are references.
   */
  readonly images: readonly string[]
  /** The picture that is the last frame of the video; null for none. */
  readonly lastImage: string | null
  readonly seed: number | null
  readonly hasAudio: boolean | null
  readonly mode: 'std' | 'pro' | null
}

/** A request to a vendor. `body` is sent as JSON. */
export type VendorCall = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /**
   * The vendor's name for the model. It is needed for clouds, where the URL depends on the model.
   */
  readonly model?: string
  /** True if the response may contain a file. Polling must not keep this file in memory. */
  readonly hasLongTexts?: true
}

/** A vendor's report on the task of one video. */
export type VideoReport = {
  readonly status: OpenStatus | 'SUCCESS' | 'FAILURE'
  readonly progress?: string | null
  readonly failReason?: string | null
  /**
   * True if the vendor says that the task does not exist. The task may belong to another account.
   */
  readonly isMissing?: boolean
  /**
   * The location of the finished video: a URL, the vendor's id of the file, or, for a file in the
   * response itself, its media type.
   */
  readonly file?: string | null
  /**
   * The time until which the vendor keeps the file, in Unix milliseconds, if the vendor reports
   * this time.
   */
  readonly expiresAt?: number | null
  /** The URL of a picture of the finished video, or null. */
  readonly cover?: string | null
  /** The length of the video in whole seconds, if the vendor reports it. */
  readonly seconds?: number | null
  /** The number of tokens that the vendor bills, if it reports them. */
  readonly tokens?: number | null
}

/** The files of one video, as the query parameter `variant` of OpenAI's API names them. */
export type VideoVariant = 'video' | 'thumbnail' | 'spritesheet'

/**
 * The way to download a video. `address`: from a URL. `vendor`: from a path of the vendor's API,
 * with the channel's key. `lookup`: from a URL in the vendor's response to `call`. `inline`: the
 * response to `call` contains the file, as the base64 text of `member`.
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
  /** The vendor's id of the earlier task that the request continues, or null. */
  readonly originId: string | null
  /**
   * The gateway's id of the task, for vendors that store an id of their client. Omitted while a
   * request is only planned.
   */
  readonly task?: string
}

/**
 * The length, resolution and size of the video that a vendor will make. The size is null if it is
 * not known. If the size is omitted, it is determined by `sizeOfVideo`: the requested size, if it
 * fits the resolution and the ratio.
 */
export type VendorMedia = Omit<VideoMedia, 'size'> & Partial<Pick<VideoMedia, 'size'>>

/**
 * A vendor of videos: pure functions that build the requests to its API and read the responses. The
 * task code sends the requests, polls, and handles prices and settlement. `upstreamId` contains all
 * data that a status request needs. Options that neither `media` nor `submit` reads are reported to
 * the caller as not sent. These functions must therefore read only options that have an effect.
 */
export type VideoVendor = {
  readonly platform: string
  /** The maximum number of pictures that a request may have as first frame or references. */
  readonly imagesMax: number
  /**
   * True if the vendor accepts a picture as last frame. If only some of its models do, `submit`
   * refuses the picture for the others.
   */
  readonly takesLastImage: boolean
  /**
   * True if the vendor accepts a last frame without a first frame. Omitted if the vendor requires
   * both, or would use a single picture as first frame.
   */
  readonly takesLastImageAlone?: true
  /**
   * True if the vendor counts tokens. A price per token then applies, and `media` returns
   * `tokensMax`. Omitted if the vendor counts no tokens. A price per token is then refused.
   */
  readonly countsTokens?: true
  /**
   * The time in milliseconds for which the vendor keeps a file, or for which its URL is valid.
   * Omitted if the vendor documents no such time, or reports when each file expires.
   */
  readonly fileMs?: number
  /**
   * Returns the length, resolution and other properties of the requested video, completed by the
   * vendor's defaults. Throws `TaskRequestError` for a value that the vendor does not offer.
   */
  readonly media: (request: VideoRequest, model: string) => VendorMedia
  readonly submit: (request: VideoRequest, media: VideoMedia, context: SubmitContext) => VendorCall
  /**
   * Returns the names of the commands in a prompt that `body`, the request to the vendor, does not
   * follow. Omitted if `submit` removes no commands from prompts.
   */
  readonly unreadCommands?: (prompt: string | null, body: JsonObject) => readonly string[]
  /**
   * Reads the response to a submission or a search. Responses with an error status are read as
   * well, for the cause of the refusal.
   */
  readonly readSubmitted: (answer: JsonObject, call: VendorCall) => SubmitAnswer
  readonly query: (upstreamId: string) => VendorCall
  /**
   * Returns the request that looks for a task by the gateway's id. `submit` must send this id to
   * the vendor. The request is used if the answer to the submission was lost. `readSubmitted` reads
   * the response. Omitted if the vendor finds tasks only by its own ids.
   */
  readonly search?: (task: string, action: string) => VendorCall
  /** Reads the response to a status request. Returns null if the response can't be read. */
  readonly readReport: (answer: JsonObject) => VideoReport | null
  /**
   * Returns the request that deletes an ended video and its task. `file` is the location of the
   * finished video, or null. Returns null if nothing can be deleted. Omitted if the vendor offers
   * no deletion.
   */
  readonly remove?: (upstreamId: string, file: string | null) => VendorCall | null
  /** The pictures of a video that `source` offers besides the video. */
  readonly otherVariants?: readonly Exclude<VideoVariant, 'video'>[]
  readonly source: (upstreamId: string, file: string, variant: VideoVariant) => FileSource
  /**
   * Returns the headers that authenticate a request. If omitted, the headers of the channel's type
   * are used.
   */
  readonly sign?: (
    key: string,
    request: { readonly url: URL; readonly method: string; readonly body: Buffer },
    nowMs: number,
  ) => Readonly<Record<string, string>>
}

/**
 * For each option, the name of the member of the caller's request that contained the option. The
 * key is the option's name in `VideoRequest`.
 */
export type NamesOfOptions = ReadonlyMap<keyof VideoRequest, string>

/**
 * Wraps a request to record which options a vendor reads. `observed` is the wrapped request.
 * `unread` returns the members of the options that were not read so far.
 */
export function observeReads(
  request: VideoRequest,
  names: NamesOfOptions,
): { readonly observed: VideoRequest; readonly unread: () => readonly string[] } {
  const read = new Set<PropertyKey>()
  const observed = new Proxy(request, {
    get: (target, option) => {
      read.add(option)
      return Reflect.get(target, option)
    },
  })
  const unread = () => [...names].flatMap(([option, name]) => (read.has(option) ? [] : [name]))
  return { observed, unread }
}

/**
 * Returns the caller's name for a member that errors name as the gateway's own format does, such as
 * `parameters.durationSeconds` for `seconds`.
 */
export type NameOfMember = (member: string) => string

/** Runs `work`. In a `TaskRequestError` that it throws, the member gets the caller's name. */
export function withNamesOfCaller<Result>(nameOf: NameOfMember, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TaskRequestError)) throw error
    const { params, ...others } = error.error
    if (params.param === undefined) throw error
    throw new TaskRequestError({ ...others, params: { ...params, param: nameOf(params.param) } })
  }
}

/** Throws the error for a value that the vendor does not offer. `values` are those it offers. */
export function reject(param: string, values: readonly (string | number)[]): never {
  throw new TaskRequestError(
    relayError('video_option_invalid', { param, subject: values.join(', ') }),
  )
}

/**
 * Returns the requested value, or the first of `values` if none was requested. `values` are the
 * values that the vendor offers. Throws `TaskRequestError` if the requested value is not one of
 * them.
 */
export function choose<Value extends string | number>(
  param: string,
  requested: Value | null,
  values: readonly Value[],
): Value {
  if (requested === null) return values[0] as Value
  return values.includes(requested) ? requested : reject(param, values)
}

/**
 * Throws `TaskRequestError` in these cases: the request has too many pictures; it has a last frame,
 * but the vendor accepts none; it has a last frame and no first frame, but the vendor accepts a
 * last frame only together with a first frame. Beside a last frame, at most one other picture is
 * accepted.
 */
export function checkPictures(
  { images, lastImage }: VideoRequest,
  { imagesMax, takesLastImage, takesLastImageAlone }: VideoVendor,
): void {
  // With a last frame, the only other picture is the first frame.
  const most = lastImage === null ? imagesMax : Math.min(imagesMax, 1)
  if (images.length > most) rejectPictures('images', most)
  if (lastImage === null) return
  if (!takesLastImage) rejectPictures('last_image', 0)
  if (images.length === 0 && takesLastImageAlone !== true) rejectParam('image', true)
}

export const HOUR_MS = 3_600_000

/**
 * Throws `TaskRequestError` for a request with more pictures than the vendor accepts. `most` is the
 * maximum for the member `param`.
 */
export const rejectPictures = (param: string, most: number): never => {
  throw new TaskRequestError(relayError('too_many_pictures', { param, subject: `${most}` }))
}

export function secondsWithin(
  requested: number | null,
  otherwise: number,
  range: Range,
  param = 'seconds',
): number {
  const seconds = requested ?? otherwise
  const isFit = Number.isInteger(seconds) && seconds >= range[0] && seconds <= range[1]
  return isFit ? seconds : reject(param, [`${range[0]}–${range[1]}`])
}
type Range = readonly [least: number, most: number]

const DATA_URL = /^data:(image\/[\w.+-]+);base64,(.+)$/s

/** Returns the media type and the base64 text of a data URL; null for a web URL. */
export function dataUrl(image: string): { readonly type: string; readonly data: string } | null {
  const [, type, data] = DATA_URL.exec(image) ?? []
  return type === undefined || data === undefined ? null : { type, data }
}

/**
 * Returns a picture for vendors that expect a web URL or a base64 text without the prefix of a data
 * URL.
 */
export const bareImage = (image: string): string => dataUrl(image)?.data ?? image

export const ID_LENGTH_MAX = 256
const TEXT_LENGTH_MAX = 16_384

export const accepted = (id: unknown, prefix = ''): SubmitAnswer => {
  const upstreamId = boundedTextOf(id, ID_LENGTH_MAX)
  if (upstreamId === null) return refused(null, null)
  const known = { upstreamId: `${prefix}${upstreamId}`, code: 1, description: null }
  return { isAccepted: true, ...known, status: 'SUBMITTED', properties: {} }
}

/**
 * Returns the outcome for a submission that the vendor refused. `code` is null if the response has
 * no result code or can't be read.
 */
export const refused = (
  code: number | null,
  words: unknown,
  cause: RefusalCause = 'request',
): SubmitAnswer => ({ isAccepted: false, code, words: providerTextOf(words), cause })

/**
 * Returns the function that finds the cause of a vendor's error code. `codes` lists the codes of
 * each cause. The cause of every other code is `request`.
 */
export function causesByCode<Code>(
  codes: Partial<Record<Exclude<RefusalCause, 'request'>, readonly Code[]>>,
): (code: unknown) => RefusalCause {
  const causes = new Map<unknown, RefusalCause>(
    Object.entries(codes).flatMap(([cause, list]) =>
      list.map((code) => [code, cause as RefusalCause] as const),
    ),
  )
  return (code) => causes.get(code) ?? 'request'
}

/**
 * Returns the function that finds the status for a vendor's name of a status. Any other value gives
 * undefined: a name that is not in `names`, such as `constructor`, and a value that is not a text.
 */
export function statusesByName(
  names: Readonly<Record<string, VideoReport['status']>>,
): (name: unknown) => VideoReport['status'] | undefined {
  const statuses = new Map<unknown, VideoReport['status']>(Object.entries(names))
  return (name) => statuses.get(name)
}

export const providerTextOf = (value: unknown): string | null =>
  boundedTextOf(value, TEXT_LENGTH_MAX)

export const countOf = (value: unknown): number | null => {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof count === 'number' && Number.isFinite(count) && count >= 0
    ? Math.ceil(Math.min(count, 1e9))
    : null
}

/** Returns the members that have a value. Vendors might refuse members that are null. */
export const defined = (members: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  )
