import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import { type JsonObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import type { TaskRequest } from '../plan-task.ts'
import { notPossible, rejectParam, type TaskBody } from '../read-task-request-body.ts'
import {
  membersOfJimeng,
  nameInJimeng,
  namesInJimeng,
  unreadOfJimeng,
} from './jimeng-format-of-callers.ts'
import { isGiven, nameIn, nameInGemini, namesIn, namesInGemini } from './names-of-video-members.ts'
import {
  audioIn,
  imagesIn,
  modeIn,
  onlyOne,
  secondsIn,
  seedIn,
  textIn,
  unsupported,
} from './read-video-members.ts'
import { refuseUnreadFiles } from './refuse-unread-files.ts'
import type { VideoRoute } from './video-routes.ts'
import {
  type NameOfMember,
  type NamesOfOptions,
  reject,
  type VideoRequest,
  withNamesOfCaller,
} from './video-vendor.ts'

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

const PROMPT_MAX = 16_384

type Submit = Extract<VideoRoute, { readonly name: 'submit' }>

/**
 * Reads a request for a video in any of the callers' formats. Throws `TaskRequestError` for an
 * invalid member.
 */
export function readVideo(route: Submit, body: TaskBody): TaskRequest {
  const sent = JSON.parse(body.bytes.toString('utf8')) as JsonObject
  const { members, platform, unread, nameOf, namesOf } = formatOf(route, sent)
  refuseUnreadFiles(sent, unread.filter(isNotReplaced))
  const request = withNamesOfCaller(nameOf, () => requestIn(route, members))
  const video = { request, platform, names: namesOf(request), nameOf }
  return { ...taskOf(request, body, unread), video }
}

function requestIn(route: Submit, members: JsonObject): VideoRequest {
  const read = (name: string, max?: number) => textIn(members, name, max)
  const model =
    route.model ?? read('model') ?? read('model_name') ?? rejectParam(modelName(route), true)
  const prompt = read('prompt', PROMPT_MAX)
  const images = imagesIn(members)
  const lastImage = onlyOne(members, 'image_tail', 'last_image')
  const hasPicture = images.length > 0 || lastImage !== null
  if (route.hasImage === true && !hasPicture) rejectParam('image', true)
  if (prompt === null && !hasPicture) rejectParam('prompt', true)
  return {
    action: hasPicture ? 'IMAGE_TO_VIDEO' : 'TEXT_TO_VIDEO',
    model,
    prompt,
    negativePrompt: read('negative_prompt', PROMPT_MAX),
    seconds: secondsIn(members),
    size: read('size'),
    resolution: read('resolution')?.toLowerCase() ?? null,
    ratio: read('aspect_ratio') ?? read('ratio'),
    images,
    lastImage,
    seed: seedIn(members),
    hasAudio: audioIn(members),
    mode: modeIn(members),
  }
}

/** A request in the format of one API, with its members under the gateway's own names. */
type RequestFormat = {
  readonly members: JsonObject
  /** The names of the members that are not sent to the vendor. */
  readonly unread: readonly string[]
  readonly namesOf: (request: VideoRequest) => NamesOfOptions
  /** Returns the caller's name for a member of `members`. */
  readonly nameOf: NameOfMember
  /** The only vendor platform whose channels serve this format, or null if any may. */
  readonly platform: string | null
}

function formatOf({ style }: Submit, sent: JsonObject): RequestFormat {
  if (style === 'gemini') {
    const members = membersOfGemini(sent)
    const names = { namesOf: namesInGemini, nameOf: nameInGemini }
    return { members, unread: unreadOfGemini(sent), ...names, platform: 'veo' }
  }
  if (style === 'jimeng') {
    const members = membersOfJimeng(sent)
    const names = { namesOf: namesInJimeng, nameOf: nameInJimeng(sent) }
    return { members, unread: unreadOfJimeng(sent), ...names, platform: 'jimeng' }
  }
  const members = withMetadata(sent)
  const namesOf = (request: VideoRequest) => namesIn(request, sent, members)
  const platform = style === 'kling' ? 'kling' : null
  const nameOf = nameIn(sent, members)
  return { members, unread: unreadOf(sent, members), namesOf, nameOf, platform }
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
  const video = { request, platform: 'sora', names: new Map(), nameOf: (name: string) => name }
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
  if (instance === undefined || more.length > 0) notPossible('instances', ['[{"prompt": "…"}]'])
  const { prompt, image, lastFrame, ...others } = objectOrEmpty(instance)
  const file = INSTANCE_FILES.find((name) => isGiven(others[name]))
  if (file !== undefined) throw unsupported(`instances.${file}`)
  const values = objectOrEmpty(parameters)
  for (const name of ['sampleCount', 'numberOfVideos'] as const) {
    if ((values[name] ?? 1) !== 1) reject(`parameters.${name}`, [1])
  }
  return {
    ...{ prompt, image: inlineImage('image', image) },
    last_image: inlineImage('lastFrame', lastFrame),
    ...{ seconds: values.durationSeconds, resolution: values.resolution, seed: values.seed },
    ...{ aspect_ratio: values.aspectRatio, negative_prompt: values.negativePrompt },
  }
}

const INLINE_IMAGE = '{"bytesBase64Encoded": "…", "mimeType": "image/png"}'

/** Converts a picture in Gemini's format to a data URL. Returns undefined if there is none. */
function inlineImage(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  const { bytesBase64Encoded, mimeType, inlineData } = objectOrEmpty(value)
  const inline = objectOrEmpty(inlineData)
  const data = bytesBase64Encoded ?? inline.data
  const type = mimeType ?? inline.mimeType ?? 'image/png'
  if (typeof data !== 'string' || typeof type !== 'string') {
    return notPossible(`instances.${name}`, [INLINE_IMAGE])
  }
  return `data:${type};base64,${data}`
}
