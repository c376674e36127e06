import Type, { type Static, type TSchema } from 'typebox'
import { answerProperties } from './field-schemas.ts'
import type { Fields } from './resource-field-definition.ts'
import { Envelope, Page, Query, sortedBy } from './response-envelope.ts'

/** `total` is at most 100 000. `is_total_capped` is true if there are more tasks. */
export const TaskPage = <T extends TSchema>(item: T) =>
  Type.Object({ ...Page(item).properties, is_total_capped: Type.Boolean() })

const TASK_FIELDS = {
  /** The position of the event that submitted the task. Newer tasks have higher positions. */
  position: { wire: 'id', type: 'integer', access: 'read' },
  userId: { wire: 'user_id', type: 'integer', access: 'read' },
  username: { wire: 'username', type: 'text', access: 'read' },
  /** 0 if no channel was chosen yet, and for readers who are not admins. */
  channelId: { wire: 'channel_id', type: 'integer', access: 'read' },
  channelName: { wire: 'channel_name', type: 'text', access: 'read' },
  /** The action of the task: `IMAGINE`, `UPSCALE`, `MUSIC`… */
  action: { wire: 'action', type: 'text', access: 'read' },
  /**
   * `NOT_START`, `SUBMITTED`, `QUEUED`, `MODAL`, `IN_PROGRESS` or `UNKNOWN`. The final statuses are
   * `SUCCESS` and `FAILURE`.
   */
  status: { wire: 'status', type: 'text', access: 'read' },
  /** In percent, such as `40%`. */
  progress: { wire: 'progress', type: 'text', access: 'read', isComputed: true },
  /** In responses, a time is 0 if its event has not occurred yet. */
  submittedAt: { wire: 'submit_time', type: 'timeMs', access: 'read' },
  startedAt: { wire: 'start_time', type: 'timeMs', access: 'read' },
  finishedAt: { wire: 'finish_time', type: 'timeMs', access: 'read' },
  prompt: { wire: 'prompt', type: 'sealedText', access: 'read' },
  /** Text from the provider or the gateway, or empty. */
  failReason: { wire: 'fail_reason', type: 'sealedText', access: 'read' },
} as const satisfies Fields

/** The fields are in the order of the responses. */
export const DRAWING_FIELDS = {
  ...TASK_FIELDS,
  id: { wire: 'mj_id', type: 'text', access: 'read' },
  /**
   * The code in the provider's answer: 0 means not submitted, 1 submitted, 21 waiting, 22
   * duplicate.
   */
  code: { wire: 'code', type: 'integer', access: 'read' },
  description: { wire: 'description', type: 'sealedText', access: 'read' },
  promptEn: { wire: 'prompt_en', type: 'sealedText', access: 'read' },
  /** The URL of the picture for browsers, or empty. */
  imageUrl: { wire: 'image_url', type: 'sealedText', access: 'read' },
} as const satisfies Fields

export const DrawingTask = Type.Object(answerProperties(DRAWING_FIELDS))
export type DrawingTask = Static<typeof DrawingTask>

/** One result of a music task. For lyrics, only `text` is set. */
export const Song = Type.Object({
  title: Type.String(),
  text: Type.String(),
  tags: Type.String(),
  /** In seconds, or 0 if unknown. */
  duration: Type.Number(),
  /** The URL of the audio file for browsers, or empty. `image_url` is the URL of the cover. */
  audio_url: Type.String(),
  image_url: Type.String(),
})
export type Song = Static<typeof Song>

/** The fields are in the order of the responses. The songs of the task follow these fields. */
export const MUSIC_FIELDS = {
  ...TASK_FIELDS,
  id: { wire: 'task_id', type: 'text', access: 'read' },
  platform: { wire: 'platform', type: 'text', access: 'read' },
} as const satisfies Fields

export const MusicTask = Type.Object({
  ...answerProperties(MUSIC_FIELDS),
  songs: Type.Array(Song),
})
export type MusicTask = Static<typeof MusicTask>

/**
 * A changed task, or the progress of several tasks by `mj_id` or `task_id`. Missed progress is not
 * sent again, because clients receive the progress with each list.
 */
export type TaskPush =
  | { kind: 'drawing'; id: number; task: DrawingTask }
  | { kind: 'music'; id: number; task: MusicTask }
  | { kind: 'progress'; tasks: { id: string; progress: string }[] }

/**
 * Only the newest 10 000 tasks are sorted. Prompts and results are encrypted, ids are random, and
 * the progress is not stored, so that these columns have no order.
 */
const TASK_SORTS = [
  'submit_time',
  'finish_time',
  'duration',
  'username',
  'channel',
  'action',
  'platform',
  'status',
  'code',
] as const
export type TaskSort = (typeof TASK_SORTS)[number]

/** Times are in Unix seconds and included in the range. `channel_id` is only for admins. */
const Filters = {
  ...Query.page,
  channel_id: Query.integer,
  start_timestamp: Query.integer,
  end_timestamp: Query.integer,
  ...sortedBy(TASK_SORTS),
}
const DrawingQuery = Type.Object({ ...Filters, mj_id: Query.text })
const MusicQuery = Type.Object({ ...Filters, task_id: Query.text })
export type TaskQuery = Static<typeof DrawingQuery> & Static<typeof MusicQuery>

const drawings = { querystring: DrawingQuery, response: { 200: Envelope(TaskPage(DrawingTask)) } }
const music = { querystring: MusicQuery, response: { 200: Envelope(TaskPage(MusicTask)) } }

export const taskQueries = {
  'GET /api/mj/': drawings,
  'GET /api/mj/self': drawings,
  'GET /api/task/': music,
  'GET /api/task/self': music,
}
