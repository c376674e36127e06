import type { OpenStatus, TaskStatus } from '#domain/tasks/events.ts'
import { type JsonObject, objectOrEmpty, scalarNumber } from '#relay/canonical/json-values.ts'
import {
  boundedTextOf,
  listOfObjects,
  parsedJson,
  parsedShallowObject,
  webAddress,
} from './parse-provider-json.ts'

const ID_LENGTH_MAX = 128
/**
 * The maximum length of a text before confidential texts are removed from it. The maximum is large,
 * because a confidential text that is cut in two would not be recognized. After the removal, the
 * text is shortened again.
 */
const UNREDACTED_LENGTH_MAX = 256 * 1024
const TEXT_MAX = UNREDACTED_LENGTH_MAX
/** The maximum length of a task's result as JSON text. Longer results are not stored. */
const RESULT_MAX = 96 * 1024

/**
 * The reason why a provider refused a task. `request`: the request itself, so every provider would
 * refuse it. `key`: the site's key at the provider is not valid. `account`: the site's account at
 * the provider can't pay or lacks a permission. `model`: the account can't use this model. `limit`:
 * the account has reached a limit, such as a full queue. `provider`: the provider itself failed.
 * After `key`, `account`, `model` and `limit`, another account may accept the task.
 */
export type RefusalCause = 'request' | 'key' | 'account' | 'model' | 'limit' | 'provider'

export type SubmitAnswer =
  | {
      readonly isAccepted: true
      readonly upstreamId: string
      readonly code: number
      readonly description: string | null
      readonly status: OpenStatus
      readonly properties: JsonObject
      /**
       * The addresses of uploaded pictures. These addresses are the only result of the task.
       * Omitted for other tasks.
       */
      readonly uploads?: readonly string[]
    }
  | {
      readonly isAccepted: false
      /**
       * The result code in the provider's response; null if the response has none or can't be read.
       */
      readonly code: number | null
      readonly words: string | null
      readonly cause: RefusalCause
    }

const ACCEPTED = new Set([1, 21, 22])
/** The causes of the codes with which drawing providers refuse a task, except `request`. */
const DRAWING_CAUSES: ReadonlyMap<number, RefusalCause> = new Map([
  // The provider has no account of Midjourney that it could use. See `drawingSubmitAnswer`.
  [3, 'account'],
  // The provider's queue is full.
  [23, 'limit'],
])

/**
 * The properties of a drawing that a caller may read. All others concern the provider's accounts.
 */
const VISIBLE_PROPERTIES = [
  'promptEn',
  'finalPrompt',
  'numberOfQueues',
  'bannedWord',
  'status',
  'remix',
]

/**
 * Reads the response to a submission. In the response to a request that continues a task
 * (`isFollowUp`), the code 3 means that the provider has forgotten this task. The site's account is
 * then not at fault.
 */
export function drawingSubmitAnswer(
  body: Buffer,
  { isFollowUp }: { readonly isFollowUp: boolean },
): SubmitAnswer {
  const answer = parsedShallowObject(body)
  const code = scalarNumber(answer?.code)
  if (answer === null || !Number.isInteger(code)) return UNREADABLE
  const uploads = addressesIn(answer.result)
  const upstreamId = boundedTextOf(uploads?.[0] ?? answer.result, ID_LENGTH_MAX)
  const words = boundedTextOf(answer.description, UNREDACTED_LENGTH_MAX)
  if (!ACCEPTED.has(code)) {
    const cause = DRAWING_CAUSES.get(code) ?? 'request'
    return { isAccepted: false, code, words, cause: isFollowUp && code === 3 ? 'request' : cause }
  }
  if (upstreamId === null) return UNREADABLE
  const sentProperties = objectOrEmpty(answer.properties)
  const isModal = sentProperties.status === 'MODAL'
  const properties = Object.fromEntries(
    VISIBLE_PROPERTIES.flatMap((key) => {
      const value = sentProperties[key]
      const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
      return isPlain
        ? [[key, typeof value === 'string' ? boundedTextOf(value, UNREDACTED_LENGTH_MAX) : value]]
        : []
    }),
  )
  const status = isModal ? 'MODAL' : 'SUBMITTED'
  const known = { upstreamId, code, description: words, status, properties } as const
  return { isAccepted: true, ...known, ...(uploads === null ? {} : { uploads }) }
}

/**
 * Returns the addresses of uploaded pictures. A provider's response to an upload contains them at
 * once. Returns null if the value is not a list of addresses.
 */
function addressesIn(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length === 0) return null
  const addresses = value.flatMap((one) => webAddress(one) ?? [])
  return addresses.length === value.length ? addresses : null
}

const UNREADABLE: SubmitAnswer = {
  isAccepted: false,
  code: null,
  words: null,
  cause: 'request',
}

export function musicSubmitAnswer(body: Buffer): SubmitAnswer {
  const answer = parsedShallowObject(body)
  if (answer === null || !('code' in answer)) return UNREADABLE
  const upstreamId = boundedTextOf(answer.data, ID_LENGTH_MAX)
  const words = boundedTextOf(answer.message, UNREDACTED_LENGTH_MAX)
  if (answer.code !== 'success') return { isAccepted: false, code: 0, words, cause: 'request' }
  if (upstreamId === null) return UNREADABLE
  const place = { upstreamId, code: 1, description: words, properties: {} }
  return { isAccepted: true, ...place, status: 'SUBMITTED' }
}

/**
 * The length of a finished video in seconds and the number of billed tokens, as the vendor reports
 * them. A value is null if the vendor does not report it.
 */
export type VideoUsage = { readonly seconds: number | null; readonly tokens: number | null }

export type ProviderReport = {
  readonly upstreamId: string
  readonly status: TaskStatus
  /** The progress, such as `40%`; null if the provider reports no progress. */
  readonly progress: string | null
  readonly imageUrl: string | null
  readonly promptEn: string | null
  readonly failReason: string | null
  /** The result of the task as JSON text, or null. */
  readonly result: string | null
  /** The usage of a finished video, as its vendor reports it. Omitted for other tasks. */
  readonly made?: VideoUsage
  /** True if the provider says that it does not know the task. */
  readonly isMissing?: true
}

const STATUSES: ReadonlyMap<unknown, TaskStatus> = new Map<unknown, TaskStatus>([
  ['', 'SUBMITTED'],
  ['NOT_START', 'NOT_START'],
  ['SUBMITTED', 'SUBMITTED'],
  ['QUEUED', 'QUEUED'],
  ['MODAL', 'MODAL'],
  ['IN_PROGRESS', 'IN_PROGRESS'],
  ['UNKNOWN', 'UNKNOWN'],
  ['SUCCESS', 'SUCCESS'],
  ['FAILURE', 'FAILURE'],
  ['CANCEL', 'FAILURE'],
])

/** Reads a provider's report on a drawing. Returns null if the report can't be read. */
export function drawingReport(task: JsonObject): ProviderReport | null {
  const upstreamId = boundedTextOf(task.id, ID_LENGTH_MAX)
  const status = STATUSES.get(task.status ?? '')
  if (upstreamId === null || status === undefined) return null
  const properties = objectOrEmpty(task.properties)
  const prompt = boundedTextOf(task.prompt, TEXT_MAX)
  const videos = videosOf(task)
  const ofVideos = videos.length === 0 ? {} : { videos }
  const buttons = listOfObjects(task.buttons)
  const result = resultText([
    { buttons, prompt, properties: visibleProperties(properties), ...ofVideos },
    { prompt, ...ofVideos },
  ])
  return {
    upstreamId,
    status,
    progress: progressOf(task.progress),
    imageUrl: webAddress(task.imageUrl),
    promptEn:
      boundedTextOf(task.promptEn, TEXT_MAX) ?? boundedTextOf(properties.finalPrompt, TEXT_MAX),
    failReason: boundedTextOf(task.failReason, UNREDACTED_LENGTH_MAX),
    result,
  }
}

const VIDEOS_MAX = 8

/** Returns the addresses of the videos that a drawing task has made. */
function videosOf({ videoUrls, videoUrl }: JsonObject): readonly string[] {
  const listed = Array.isArray(videoUrls) ? videoUrls : []
  const addresses = listed.flatMap(
    (one: unknown) => webAddress(objectOrEmpty(one).url ?? one) ?? [],
  )
  const single = webAddress(videoUrl)
  const all = addresses.length === 0 && single !== null ? [single] : addresses
  return all.slice(0, VIDEOS_MAX)
}

const visibleProperties = ({ finalPrompt }: JsonObject): JsonObject => {
  const text = boundedTextOf(finalPrompt, TEXT_MAX)
  return text === null ? {} : { finalPrompt: text }
}

export function musicReport(task: JsonObject): ProviderReport | null {
  const upstreamId = boundedTextOf(task.task_id, ID_LENGTH_MAX)
  const status = STATUSES.get(task.status ?? '')
  if (upstreamId === null || status === undefined) return null
  return {
    upstreamId,
    status,
    progress: progressOf(task.progress),
    imageUrl: null,
    promptEn: null,
    failReason: boundedTextOf(task.fail_reason, UNREDACTED_LENGTH_MAX),
    result: resultText([task.data ?? null]),
  }
}

const progressOf = (value: unknown): string | null =>
  typeof value === 'string' && /^\d{1,3}%$/.test(value) ? value : null

/**
 * Returns the JSON text of the first value whose text has at most `RESULT_MAX` characters, or null
 * if there is none.
 */
function resultText(values: readonly unknown[]): string | null {
  for (const value of values) {
    const text = value === null ? null : boundedTextOf(JSON.stringify(value), RESULT_MAX + 1)
    if (text !== null && text.length <= RESULT_MAX) return text
  }
  return null
}

/** The paths at which providers are asked about the status of tasks. */
export const STATUS_PATHS = {
  drawing: '/mj/task/list-by-condition',
  music: '/suno/fetch',
} as const

/**
 * Reads the reports on tasks in a provider's response to a request at one of `STATUS_PATHS`.
 * Returns null if the response can't be read or has no list, for example because the provider is
 * busy. A null in place of the list counts as an empty list, because some providers send a null.
 */
export function reportsIn(
  kind: 'drawing' | 'music',
  body: Buffer,
): readonly ProviderReport[] | null {
  const value = parsedJson(body)
  if (value === undefined) return null
  const rows = Array.isArray(value) || value === null ? value : objectOrEmpty(value).data
  if (rows === null) return []
  const read = kind === 'drawing' ? drawingReport : musicReport
  return Array.isArray(rows) ? rows.flatMap((row) => read(objectOrEmpty(row)) ?? []) : null
}
