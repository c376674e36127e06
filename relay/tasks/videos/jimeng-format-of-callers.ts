import { namesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import type { TaskRecord } from '#domain/tasks/decide.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { notPossible } from '../read-task-request-body.ts'
import {
  type NameOfMember,
  type NamesOfOptions,
  reject,
  type VideoRequest,
} from './video-vendor.ts'

/**
 * The values of the query parameter `Action` in Jimeng's own API (volcengine.com/docs/85621). One
 * path serves all requests of this API, so the parameter names what a request does. Callers whose
 * client is made for Jimeng use this API.
 */
export const JIMENG_ACTIONS = {
  submit: 'CVSync2AsyncSubmitTask',
  result: 'CVSync2AsyncGetResult',
} as const

const MEMBERS = [
  ...['req_key', 'prompt', 'seed', 'frames', 'aspect_ratio', 'binary_data_base64', 'image_urls'],
]
export const JIMENG_NAMES = namesByFoldedName([...MEMBERS, 'task_id'])

const FRAMES_PER_SECOND = 24
const LENGTHS_S = [5, 10]
const SUCCESS = 10_000
/** The code that Jimeng documents for an internal error. */
const FAILED = 50_500

const STATUSES: Readonly<Record<string, string>> = {
  SUCCESS: 'done',
  IN_PROGRESS: 'generating',
}

/** Returns the members of a request under the names that the gateway's own format uses. */
export function membersOfJimeng(sent: JsonObject): JsonObject {
  const { req_key: model, prompt, seed, frames, aspect_ratio: ratio } = sent
  const { binary_data_base64: inline, image_urls: addresses } = sent
  const images = [listIn('binary_data_base64', inline), listIn('image_urls', addresses)].flat()
  return {
    ...{ model, prompt, seed, aspect_ratio: ratio, seconds: secondsIn(frames) },
    ...(images.length === 0 ? {} : { images }),
  }
}

function listIn(name: string, value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : notPossible(name, ['["…"]'])
}

/**
 * Returns the length of a video in seconds. Jimeng's API states the length in frames: 24 for each
 * second, and one more.
 */
function secondsIn(frames: unknown): number | undefined {
  if (frames === undefined || frames === null) return undefined
  const seconds = LENGTHS_S.find((length) => FRAMES_PER_SECOND * length + 1 === frames)
  const offered = LENGTHS_S.map((length) => FRAMES_PER_SECOND * length + 1)
  return seconds ?? reject('frames', offered)
}

export const unreadOfJimeng = (sent: JsonObject): readonly string[] =>
  Object.keys(sent).filter((name) => !MEMBERS.includes(name))

const NAMES = [
  ['seconds', 'frames'],
  ['ratio', 'aspect_ratio'],
  ['seed', 'seed'],
] as const

export const namesInJimeng = (request: VideoRequest): NamesOfOptions =>
  new Map(NAMES.filter(([option]) => request[option] !== null))

const NAMES_OF_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['model', 'req_key'],
  ['seconds', 'frames'],
])

/**
 * Returns the function that finds Jimeng's name of a member. The pictures of `binary_data_base64`
 * come before those of `image_urls`.
 */
export const nameInJimeng = ({
  binary_data_base64: inline,
  image_urls: addresses,
}: JsonObject): NameOfMember => {
  const inlineCount = Array.isArray(inline) ? inline.length : 0
  const last = Array.isArray(addresses) && addresses.length > 0 ? 'image_urls' : null
  return (path) => {
    const [, index] = /^images\[(\d+)\]$/.exec(path) ?? []
    if (path === 'images') return last ?? 'binary_data_base64'
    if (index === undefined) return NAMES_OF_MEMBERS.get(path) ?? path
    const at = Number(index)
    return at < inlineCount ? `binary_data_base64[${at}]` : `image_urls[${at - inlineCount}]`
  }
}

/** Describes a video as Jimeng does. A failed video is an error, as in Jimeng's API. */
export function jimengAnswer({ submitted, status }: TaskRecord, reason: string, link: string) {
  const { task } = submitted
  const code = status === 'FAILURE' ? FAILED : SUCCESS
  const data = {
    task_id: task,
    status: STATUSES[status] ?? 'in_queue',
    ...(link === '' ? {} : { video_url: link }),
  }
  const ofCode = { code, status: code, request_id: task }
  return code === FAILED
    ? { ...ofCode, message: reason, data: null }
    : { ...ofCode, message: 'Success', data }
}
