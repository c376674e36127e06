import type { OpenStatus, TaskStatus } from '#domain/task/events.ts'
import {
  type Loose,
  listOf,
  objectOf,
  parsedJson,
  parsedObject,
  textOf,
  webAddress,
} from './task-body.ts'

const ID_LENGTH_MAX = 128
/** Texts are read whole and cut once they are cleaned; these bounds are for what is absurd. */
const WORDS_MAX = 256 * 1024
const TEXT_MAX = WORDS_MAX
/** Of what came of a task, as JSON text: more is left out. */
const RESULT_MAX = 96 * 1024

/** What a provider answered to a task that was sent to it. */
export type Taken =
  | {
      readonly isTaken: true
      readonly upstreamId: string
      readonly code: number
      readonly description: string | null
      readonly status: OpenStatus
      readonly properties: Loose
    }
  | {
      readonly isTaken: false
      /** null: it is no answer at all. */
      readonly code: number | null
      readonly words: string | null
      /** Another account may take it: it has none that could, or no room. */
      readonly isOfAccount: boolean
    }

const ACCEPTED = new Set([1, 21, 22])
const NO_ACCOUNT = 3
const QUEUE_FULL = 23

/** Of these a caller may read: the others are about the provider's own accounts. */
const SHOWN = ['promptEn', 'finalPrompt', 'numberOfQueues', 'bannedWord', 'status', 'remix']

export function drawingTaken(body: Buffer): Taken {
  const answer = parsedObject(body)
  const code = Number(answer?.code ?? Number.NaN)
  if (answer === null || !Number.isInteger(code)) return UNREADABLE
  const upstreamId = textOf(answer.result, ID_LENGTH_MAX)
  const words = textOf(answer.description, WORDS_MAX)
  if (!ACCEPTED.has(code)) {
    const isOfAccount = code === NO_ACCOUNT || code === QUEUE_FULL
    return { isTaken: false, code, words, isOfAccount }
  }
  if (upstreamId === null) return UNREADABLE
  const given = objectOf(answer.properties)
  const isModal = given.status === 'MODAL'
  const properties = Object.fromEntries(
    SHOWN.flatMap((key) => {
      const value = given[key]
      const isPlain = ['string', 'number', 'boolean'].includes(typeof value)
      return isPlain ? [[key, typeof value === 'string' ? textOf(value, WORDS_MAX) : value]] : []
    }),
  )
  const status = isModal ? 'MODAL' : 'SUBMITTED'
  return { isTaken: true, upstreamId, code, description: words, status, properties }
}

const UNREADABLE: Taken = { isTaken: false, code: null, words: null, isOfAccount: false }

export function musicTaken(body: Buffer): Taken {
  const answer = parsedObject(body)
  if (answer === null || !('code' in answer)) return UNREADABLE
  const upstreamId = textOf(answer.data, ID_LENGTH_MAX)
  const words = textOf(answer.message, WORDS_MAX)
  if (answer.code !== 'success') return { isTaken: false, code: 0, words, isOfAccount: false }
  if (upstreamId === null) return UNREADABLE
  const place = { upstreamId, code: 1, description: words, properties: {} }
  return { isTaken: true, ...place, status: 'SUBMITTED' }
}

/** What a provider says of a task that it has. */
export type Told = {
  readonly upstreamId: string
  readonly status: TaskStatus
  /** Such as `40%`; null: it does not say. */
  readonly progress: string | null
  readonly imageUrl: string | null
  readonly promptEn: string | null
  readonly failReason: string | null
  /** JSON text. */
  readonly result: string | null
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

/** null where it can't be made out. */
export function drawingTold(task: Loose): Told | null {
  const upstreamId = textOf(task.id, ID_LENGTH_MAX)
  const status = STATUSES.get(task.status ?? '')
  if (upstreamId === null || status === undefined) return null
  const properties = objectOf(task.properties)
  const prompt = textOf(task.prompt, TEXT_MAX)
  const result = resultText([
    { buttons: listOf(task.buttons), prompt, properties: shownOf(properties) },
    { prompt },
  ])
  return {
    upstreamId,
    status,
    progress: progressOf(task.progress),
    imageUrl: webAddress(task.imageUrl),
    promptEn: textOf(task.promptEn, TEXT_MAX) ?? textOf(properties.finalPrompt, TEXT_MAX),
    failReason: textOf(task.failReason, WORDS_MAX),
    result,
  }
}

const shownOf = ({ finalPrompt }: Loose): Loose => {
  const text = textOf(finalPrompt, TEXT_MAX)
  return text === null ? {} : { finalPrompt: text }
}

export function musicTold(task: Loose): Told | null {
  const upstreamId = textOf(task.task_id, ID_LENGTH_MAX)
  const status = STATUSES.get(task.status ?? '')
  if (upstreamId === null || status === undefined) return null
  return {
    upstreamId,
    status,
    progress: progressOf(task.progress),
    imageUrl: null,
    promptEn: null,
    failReason: textOf(task.fail_reason, WORDS_MAX),
    result: resultText([task.data ?? null]),
  }
}

const progressOf = (value: unknown): string | null =>
  typeof value === 'string' && /^\d{1,3}%$/.test(value) ? value : null

/** The first of them that is short enough. */
function resultText(values: readonly unknown[]): string | null {
  for (const value of values) {
    const text = value === null ? null : textOf(JSON.stringify(value), RESULT_MAX + 1)
    if (text !== null && text.length <= RESULT_MAX) return text
  }
  return null
}

/**
 * A list of tasks as `list-by-condition` and `/suno/fetch` answer it; null: it can't be read. Some
 * answer none of them as null.
 */
export function toldIn(kind: 'drawing' | 'music', body: Buffer): readonly Told[] | null {
  const value = parsedJson(body)
  if (value === undefined) return null
  const rows = Array.isArray(value) ? value : objectOf(value).data
  const read = kind === 'drawing' ? drawingTold : musicTold
  return Array.isArray(rows) ? rows.flatMap((row) => read(objectOf(row)) ?? []) : []
}
