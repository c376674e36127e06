import Type, { type Static, type TSchema } from 'typebox'
import { Envelope, Page, Query, sortedBy } from './envelope.ts'

/**
 * Returns the schema for one page of tasks. `total` is at most 100 000. If there are more tasks,
 * `is_total_capped` is true.
 */
export const TaskPage = <T extends TSchema>(item: T) =>
  Type.Object({ ...Page(item).properties, is_total_capped: Type.Boolean() })

/** The fields that drawing tasks and music tasks have in common. */
const TaskFields = {
  /** The id of the row, which increases with time. */
  id: Type.Integer(),
  user_id: Type.Integer(),
  username: Type.String(),
  /** The channel of the task. It is 0 before a channel is chosen, and for non-admins. */
  channel_id: Type.Integer(),
  channel_name: Type.String(),
  /** The action of the task: `IMAGINE`, `UPSCALE`, `MUSIC`… */
  action: Type.String(),
  /**
   * The status of the task: `NOT_START`, `SUBMITTED`, `QUEUED`, `MODAL`, `IN_PROGRESS`, `UNKNOWN`.
   * Final statuses are `SUCCESS` and `FAILURE`.
   */
  status: Type.String(),
  /** The progress in percent, such as `40%`. */
  progress: Type.String(),
  /** The time of the submission. Times are in Unix seconds, and 0 means not yet. */
  submit_time: Type.Integer(),
  start_time: Type.Integer(),
  finish_time: Type.Integer(),
  prompt: Type.String(),
  /** The reason of a failure in the words of the provider or the gateway; empty for other tasks. */
  fail_reason: Type.String(),
}

export const DrawingTask = Type.Object({
  ...TaskFields,
  mj_id: Type.String(),
  /**
   * The code of the provider's answer: 1 is submitted, 21 waiting, 22 duplicate. 0 means that the
   * task was not submitted.
   */
  code: Type.Integer(),
  description: Type.String(),
  prompt_en: Type.String(),
  /** The URL of the picture, which browsers may open. It is empty while there is no picture. */
  image_url: Type.String(),
})
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

export const MusicTask = Type.Object({
  ...TaskFields,
  task_id: Type.String(),
  platform: Type.String(),
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
