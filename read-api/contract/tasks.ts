import Type, { type Static, type TSchema } from 'typebox'
import { Envelope, Page, Query, sortedBy } from './envelope.ts'
import { answerProperties } from './field-schemas.ts'
import type { Fields } from './resource-fields.ts'

/**
 * Returns the schema for one page of tasks. `total` is at most 100 000. If there are more tasks,
 * `is_total_capped` is true.
 */
export const TaskPage = <T extends TSchema>(item: T) =>
  Type.Object({ ...Page(item).properties, is_total_capped: Type.Boolean() })

/** The fields that drawing tasks and music tasks have in common. */
const TASK_FIELDS = {
  /** The position of the event that submitted the task, so it increases with time. */
  position: { wire: 'id', type: 'integer', access: 'read' },
  userId: { wire: 'user_id', type: 'integer', access: 'read' },
  username: { wire: 'username', type: 'text', access: 'read' },
  /** The channel of the task. It is 0 before a channel is chosen, and for non-admins. */
  channelId: { wire: 'channel_id', type: 'integer', access: 'read' },
  channelName: { wire: 'channel_name', type: 'text', access: 'read' },
  /** The action of the task: `IMAGINE`, `UPSCALE`, `MUSIC`… */
  action: { wire: 'action', type: 'text', access: 'read' },
  /**
   * The status of the task: `NOT_START`, `SUBMITTED`, `QUEUED`, `MODAL`, `IN_PROGRESS`, `UNKNOWN`.
   * Final statuses are `SUCCESS` and `FAILURE`.
   */
  status: { wire: 'status', type: 'text', access: 'read' },
  /** The progress in percent, such as `40%`. */
  progress: { wire: 'progress', type: 'text', access: 'read', isComputed: true },
  /** The time of the submission. On the wire, 0 means that a time has not come yet. */
  submittedAt: { wire: 'submit_time', type: 'timeMs', access: 'read' },
  startedAt: { wire: 'start_time', type: 'timeMs', access: 'read' },
  finishedAt: { wire: 'finish_time', type: 'timeMs', access: 'read' },
  prompt: { wire: 'prompt', type: 'sealedText', access: 'read' },
  /** The reason of a failure in the words of the provider or the gateway; empty for other tasks. */
  failReason: { wire: 'fail_reason', type: 'sealedText', access: 'read' },
} as const satisfies Fields

/** The fields of a drawing task in the order of the responses. */
export const DRAWING_FIELDS = {
  ...TASK_FIELDS,
  id: { wire: 'mj_id', type: 'text', access: 'read' },
  /**
   * The code of the provider's answer: 1 is submitted, 21 waiting, 22 duplicate. 0 means that the
   * task was not submitted.
   */
  code: { wire: 'code', type: 'integer', access: 'read' },
  description: { wire: 'description', type: 'sealedText', access: 'read' },
  promptEn: { wire: 'prompt_en', type: 'sealedText', access: 'read' },
  /** The URL of the picture, which browsers may open. It is empty while there is no picture. */
  imageUrl: { wire: 'image_url', type: 'sealedText', access: 'read' },
} as const satisfies Fields

export const DrawingTask = Type.Object(answerProperties(DRAWING_FIELDS))
export type DrawingTask = Static<typeof DrawingTask>

/** One result of a music task. For lyrics, only the text is set. */
export const Song = Type.Object({
  title: Type.String(),
  /** The lyrics of the song. */
  text: Type.String(),
  tags: Type.String(),
  /** The duration in seconds. 0 means that it is unknown. */
  duration: Type.Number(),
  /**
   * The URL of the audio file, which browsers may open. It is empty if there is no file. The same
   * applies to `image_url`.
   */
  audio_url: Type.String(),
  image_url: Type.String(),
})
export type Song = Static<typeof Song>

/** The fields of a music task in the order of the responses. Its songs follow them. */
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
 * The data of the live topic `tasks`: a changed task, or the progress of several tasks by `mj_id`
 * or `task_id`. Missed progress is not sent again, so clients read the progress again with each
 * list.
 */
export type TaskPush =
  | { kind: 'drawing'; id: number; task: DrawingTask }
  | { kind: 'music'; id: number; task: MusicTask }
  | { kind: 'progress'; tasks: { id: string; progress: string }[] }

/** The columns by which the newest 10 000 tasks can be sorted. */
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

/** The filters. Times are in Unix seconds and inclusive. `channel_id` is for admins only. */
const Filters = {
  ...Query.page,
  channel_id: Query.integer,
  start_timestamp: Query.integer,
  end_timestamp: Query.integer,
  ...sortedBy(TASK_SORTS),
}
const DrawingQuery = Type.Object({ ...Filters, mj_id: Query.text })
const MusicQuery = Type.Object({ ...Filters, task_id: Query.text })
/** The query parameters of the drawing list or the music list. */
export type TaskQuery = Static<typeof DrawingQuery> & Static<typeof MusicQuery>

const drawings = { querystring: DrawingQuery, response: { 200: Envelope(TaskPage(DrawingTask)) } }
const music = { querystring: MusicQuery, response: { 200: Envelope(TaskPage(MusicTask)) } }

export const taskQueries = {
  'GET /api/mj/': drawings,
  'GET /api/mj/self': drawings,
  'GET /api/task/': music,
  'GET /api/task/self': music,
}
