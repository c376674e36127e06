import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import { type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { relayError } from '../../canonical/relay-error.ts'
import type { TaskRequest } from '../plan-task.ts'
import { rejectParam, type TaskBody, TaskRequestError } from '../read-task-request-body.ts'
import { membersOfJimeng, namesInJimeng, unreadOfJimeng } from './jimeng-format-of-callers.ts'
import { refuseUnreadFiles } from './refuse-unread-files.ts'
import type { VideoRoute } from './video-routes.ts'
import { type NamesOfOptions, reject, type VideoRequest } from './video-vendor.ts'

/**
 * The members that the gateway reads, in all formats except Jimeng's. Other members are not sent to
 * the vendor.
 */
const MEMBERS = [
  ...['model', 'model_name', 'prompt', 'negative_prompt', 'seconds', 'duration', 'size'],
  ...['resolution', 'ratio', 'aspect_ratio', 'image', 'images', 'image_tail', 'last_image'],
  ...['input_reference', 'seed', 'generate_audio', 'sound', 'mode', 'metadata'],
  ...['instances', 'parameters'],
]
export const VIDEO_NAMES = namesByFoldedName(MEMBERS)
const GEMINI_MEMBERS = ['instances', 'parameters']
const CONTAINERS = ['metadata', ...GEMINI_MEMBERS]
/** Pairs of members with the same meaning. If both are present, the second one is not read. */
const SECOND_NAMES = [
  ['model', 'model_name'],
  ['seconds', 'duration'],
  ['aspect_ratio', 'ratio'],
  ['generate_audio', 'sound'],
] as const
const INSTANCE_MEMBERS = ['prompt', 'image', 'lastFrame']
/**
 * Members with files that the gateway can't send to a vendor. A request with such a member is
 * refused, because without the file the vendor would make a different video.
 */
const INSTANCE_FILES = ['referenceImages', 'video']
const PARAMETERS = [
  ...['durationSeconds', 'resolution', 'seed', 'aspectRatio', 'negativePrompt', 'sampleCount'],
  'numberOfVideos',
]

/**
 * For each option: its name in `VideoRequest`, the members in which requests give it, and the
 * parameter in Gemini's format, or null. If several members are present, the first one is read.
 */
const OPTIONS = [
  ['negativePrompt', ['negative_prompt'], 'negativePrompt'],
  ['seconds', ['seconds', 'duration'], 'durationSeconds'],
  ['size', ['size'], null],
  ['resolution', ['resolution'], 'resolution'],
  ['ratio', ['aspect_ratio', 'ratio'], 'aspectRatio'],
  ['seed', ['seed'], 'seed'],
  ['hasAudio', ['generate_audio', 'sound'], null],
  ['mode', ['mode'], null],
] as const satisfies readonly [keyof VideoRequest, readonly string[], string | null][]

const PROMPT_MAX = 16_384
const TEXT_MAX = 128
const IMAGE_MAX = 20 * 1024 * 1024
const IMAGES_MAX = 8

type Submit = Extract<VideoRoute, { readonly name: 'submit' }>

/**
 * Reads a request for a video in any of the callers' formats. Throws `TaskRequestError` for an
 * invalid member.
 */
export function readVideo(route: Submit, body: TaskBody): TaskRequest {
  const sent = JSON.parse(body.bytes.toString('utf8')) as JsonObject
  const format = formatOf(route, sent)
  const { members, platform, unread } = format
  refuseUnreadFiles(sent, unread.filter(isNotReplaced))
  const read = (name: string, max = TEXT_MAX) => textIn(members, name, max)
  const model =
    route.model ?? read('model') ?? read('model_name') ?? rejectParam(modelName(route), true)
  const prompt = read('prompt', PROMPT_MAX)
  const images = imagesIn(members)
  const lastImage = onlyOne(members, 'image_tail', 'last_image')
  const hasPicture = images.length > 0 || lastImage !== null
  if (route.hasImage === true && !hasPicture) rejectParam('image', true)
  if (prompt === null && !hasPicture) rejectParam('prompt', true)
  const request: VideoRequest = {
    action: hasPicture ? 'IMAGE_TO_VIDEO' : 'TEXT_TO_VIDEO',
    model,
    prompt,
    negativePrompt: read('negative_prompt', PROMPT_MAX),
    seconds: numberIn(members, 'seconds') ?? numberIn(members, 'duration'),
    size: read('size'),
    resolution: read('resolution')?.toLowerCase() ?? null,
    ratio: read('aspect_ratio') ?? read('ratio'),
    images,
    lastImage,
    seed: numberIn(members, 'seed'),
    hasAudio: audioIn(members),
    mode: modeIn(members),
  }
  const names = format.namesOf(request)
  return { ...taskOf(request, body, unread), video: { request, platform, names } }
}

/** A request in the format of one API, with its members under the gateway's own names. */
type RequestFormat = {
  readonly members: JsonObject
  /** The names of the members that are not sent to the vendor. */
  readonly unread: readonly string[]
  readonly namesOf: (request: VideoRequest) => NamesOfOptions
  /** The only vendor platform whose channels serve this format, or null if any may. */
  readonly platform: string | null
}

function formatOf({ style }: Submit, sent: JsonObject): RequestFormat {
  if (style === 'gemini') {
    const members = membersOfGemini(sent)
    return { members, unread: unreadOfGemini(sent), namesOf: namesInGemini, platform: 'veo' }
  }
  if (style === 'jimeng') {
    const members = membersOfJimeng(sent)
    return { members, unread: unreadOfJimeng(sent), namesOf: namesInJimeng, platform: 'jimeng' }
  }
  const members = withMetadata(sent)
  const namesOf = (request: VideoRequest) => namesIn(request, sent, members)
  const platform = style === 'kling' ? 'kling' : null
  return { members, unread: unreadOf(sent, members), namesOf, platform }
}

/**
 * Reads a request for a remix, which is a new version of a video. The remix has the length and the
 * size of the original video.
 */
export function readRemix({ submitted }: TaskRecord, body: TaskBody): TaskRequest {
  const prompt = body.requireText('prompt', PROMPT_MAX)
  const { model, task } = submitted
  const request: VideoRequest = {
    ...{ action: 'REMIX', model, prompt, negativePrompt: null, seconds: null, size: null },
    ...{ resolution: null, ratio: null, images: [], lastImage: null, seed: null },
    ...{ hasAudio: null, mode: null },
  }
  const video = { request, platform: 'sora', names: new Map() }
  const sent = JSON.parse(body.bytes.toString('utf8')) as JsonObject
  const unread = Object.keys(sent).filter((name) => name !== 'prompt')
  refuseUnreadFiles(sent, unread)
  return { ...taskOf(request, body, unread), originId: task, video }
}

/**
 * Reports whether an unread member is not one of `metadata` that a member of the request itself
 * replaces. The request itself has the picture in this case.
 */
const isNotReplaced = (path: string): boolean =>
  !path.startsWith('metadata.') || !isRead(path.slice('metadata.'.length))

const isRead = (name: string): boolean => MEMBERS.includes(name) && !CONTAINERS.includes(name)

/** The name of the member with the model, in the formats that do not name it `model`. */
const MODEL_NAMES: Partial<Record<Submit['style'], string>> = {
  jimeng: 'req_key',
  kling: 'model_name',
}
const modelName = ({ style }: Submit): string => MODEL_NAMES[style] ?? 'model'

const taskOf = (
  { action, model, prompt }: VideoRequest,
  body: TaskBody,
  dropped: readonly string[],
): TaskRequest => ({
  kind: 'video',
  platform: 'video',
  ...{ action, model, prompt, state: null, originId: null, continuesOpen: false },
  ...{ path: '', body, providerBody: () => body.bytes, droppedMembers: () => dropped },
})

/**
 * Returns the members of a request, completed by the members of `metadata`. If both have the same
 * member, the member of the request itself is used.
 */
const withMetadata = (sent: JsonObject): JsonObject => {
  const { metadata, ...members } = sent
  return { ...objectOrEmpty(metadata), ...members }
}

/** Reports whether two values have the same text. An object has no text. */
const isSameText = (value: unknown, other: unknown): boolean =>
  [value, other].every((one) => typeof one !== 'object') && `${value}` === `${other}`

const unsupported = (param: string): TaskRequestError =>
  new TaskRequestError(relayError('parameter_not_supported', { param }))

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/**
 * Returns the names of the members that are not sent to the vendor, including members of
 * `metadata`.
 */
function unreadOf(sent: JsonObject, members: JsonObject): readonly string[] {
  const { metadata, ...own } = sent
  const inside = objectOrEmpty(metadata)
  const isBare = isGiven(metadata) && Object.keys(inside).length === 0
  return [
    ...Object.keys(own).filter((name) => !isRead(name)),
    ...Object.keys(inside)
      .filter((name) => !isRead(name) || name in own)
      .map((name) => `metadata.${name}`),
    ...(isBare ? ['metadata'] : []),
    ...SECOND_NAMES.flatMap(([first, second]) => {
      const [value, other] = [members[first], members[second]]
      return isGiven(value) && isGiven(other) && !isSameText(value, other) ? [second] : []
    }),
  ]
}

/**
 * Returns, for each option of the request, the path of the member that gave it, such as `seed` or
 * `metadata.seed`.
 */
function namesIn(request: VideoRequest, sent: JsonObject, members: JsonObject): NamesOfOptions {
  const pathOf = (name: string) => (name in sent ? name : `metadata.${name}`)
  return new Map(
    OPTIONS.flatMap(([option, names]) => {
      const name = names.find((one) => isGiven(members[one]))
      return request[option] === null || name === undefined ? [] : [[option, pathOf(name)]]
    }),
  )
}

const namesInGemini = (request: VideoRequest): NamesOfOptions =>
  new Map(
    OPTIONS.flatMap(([option, , name]) =>
      request[option] === null || name === null ? [] : [[option, `parameters.${name}`]],
    ),
  )

function unreadOfGemini(sent: JsonObject): readonly string[] {
  const { instances, parameters } = sent
  const instance = objectOrEmpty(Array.isArray(instances) ? instances[0] : null)
  const unreadIn = (members: JsonObject, read: readonly string[], path: string) =>
    Object.keys(members)
      .filter((name) => !read.includes(name))
      .map((name) => `${path}${name}`)
  return [
    ...unreadIn(sent, GEMINI_MEMBERS, ''),
    ...unreadIn(instance, INSTANCE_MEMBERS, 'instances.'),
    ...unreadIn(objectOrEmpty(parameters), PARAMETERS, 'parameters.'),
  ]
}

function membersOfGemini({ instances, parameters }: JsonObject): JsonObject {
  const [instance, ...more] = Array.isArray(instances) ? instances : []
  if (instance === undefined || more.length > 0) reject('instances')
  const { prompt, image, lastFrame, ...others } = objectOrEmpty(instance)
  const file = INSTANCE_FILES.find((name) => isGiven(others[name]))
  if (file !== undefined) throw unsupported(`instances.${file}`)
  const values = objectOrEmpty(parameters)
  const count = values.sampleCount ?? values.numberOfVideos ?? 1
  if (count !== 1) reject('parameters.sampleCount', [1])
  return {
    ...{ prompt, image: inlineImage(image), last_image: inlineImage(lastFrame) },
    ...{ seconds: values.durationSeconds, resolution: values.resolution, seed: values.seed },
    ...{ aspect_ratio: values.aspectRatio, negative_prompt: values.negativePrompt },
  }
}

/** Converts a picture in Gemini's format to a data URL. Returns undefined if there is none. */
function inlineImage(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  const { bytesBase64Encoded, mimeType, inlineData } = objectOrEmpty(value)
  const inline = objectOrEmpty(inlineData)
  const data = bytesBase64Encoded ?? inline.data
  const type = mimeType ?? inline.mimeType ?? 'image/png'
  if (typeof data !== 'string' || typeof type !== 'string') return reject('image')
  return `data:${type};base64,${data}`
}

function textIn(members: JsonObject, name: string, max: number): string | null {
  const value = members[name]
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string' || value.length > max) return reject(name)
  return value.trim() === '' ? null : value
}

/**
 * Reads an integer, which some formats send as a text. Returns null if the member is missing or
 * empty.
 */
function numberIn(members: JsonObject, name: string): number | null {
  const value = members[name]
  if (value === undefined || value === null || value === '') return null
  const isText = typeof value === 'string' && /^\d{1,10}$/.test(value)
  const number = isText ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : reject(name)
}

function audioIn(members: JsonObject): boolean | null {
  const { generate_audio: flag, sound } = members
  if (typeof flag === 'boolean') return flag
  if (flag !== undefined && flag !== null) reject('generate_audio')
  if (sound === undefined || sound === null || sound === '') return null
  return sound === 'on' ? true : sound === 'off' ? false : reject('sound', ['on', 'off'])
}

function modeIn(members: JsonObject): 'std' | 'pro' | null {
  const mode = textIn(members, 'mode', TEXT_MAX)
  return mode === null || mode === 'std' || mode === 'pro' ? mode : reject('mode', ['std', 'pro'])
}

function imagesIn(members: JsonObject): readonly string[] {
  const { images } = members
  const first = onlyOne(members, 'image', 'input_reference')
  if (images === undefined || images === null) return first === null ? [] : [first]
  if (!Array.isArray(images) || images.length > IMAGES_MAX) return reject('images')
  const listed = images.map((image, index) => pictureOf(image, `images[${index}]`))
  return first === null ? listed : [first, ...listed]
}

/**
 * Reads a picture that may be given under two names. Two different pictures are refused, because
 * only one could be sent.
 */
function onlyOne(members: JsonObject, name: string, secondName: string): string | null {
  const [first, second] = [imageIn(members, name), imageIn(members, secondName)]
  if (first !== null && second !== null && first !== second) return reject(secondName)
  return first ?? second
}

function imageIn(members: JsonObject, name: string): string | null {
  const value = members[name]
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'object') return pictureOf(value, name)
  const { image_url: address, file_id: fileId } = objectOrEmpty(value)
  // Files belong to the operator's account at the provider, so callers can't refer to them.
  if (isGiven(fileId)) throw unsupported(`${name}.file_id`)
  return pictureOf(address, name)
}

/**
 * Checks a picture, which is a web URL, a data URL or a base64 text. Returns the URL. A base64 text
 * becomes a data URL.
 */
function pictureOf(value: unknown, param: string): string {
  if (typeof value !== 'string' || value.length > IMAGE_MAX) return reject(param)
  if (/^https?:\/\//i.test(value)) return URL.canParse(value) ? value : reject(param)
  if (/^data:image\/[\w.+-]+;base64,[A-Za-z0-9+/]/.test(value)) return value
  if (!/^[A-Za-z0-9+/]{64}/.test(value)) return reject(param)
  const type = value.startsWith('/9j/') ? 'jpeg' : value.startsWith('UklGR') ? 'webp' : 'png'
  return `data:image/${type};base64,${value}`
}
