import Type, { type Static, type TSchema } from 'typebox'
import { Envelope, Page, Query, sortedBy } from './envelope.ts'

/** `total` counts up to 100 000; beyond that `is_total_capped` is true. */
export const TaskPage = <T extends TSchema>(item: T) =>
  Type.Object({ ...Page(item).properties, is_total_capped: Type.Boolean() })

/** The fields that drawing and music tasks share. */
const TaskFields = {
  /** Ascending with time. */
  id: Type.Integer(),
  user_id: Type.Integer(),
  username: Type.String(),
  /** 0 and empty unless the reader is an admin, and before a channel is chosen. */
  channel_id: Type.Integer(),
  channel_name: Type.String(),
  /** `IMAGINE`, `UPSCALE`, `MUSIC`… */
  action: Type.String(),
  /** `NOT_START`, `SUBMITTED`, `QUEUED`, `MODAL`, `IN_PROGRESS`, `UNKNOWN`; `SUCCESS`, `FAILURE` */
  status: Type.String(),
  /** Such as `40%`. */
  progress: Type.String(),
  /** Unix seconds; 0 means not yet. */
  submit_time: Type.Integer(),
  start_time: Type.Integer(),
  finish_time: Type.Integer(),
  /** The caller's prompt. */
  prompt: Type.String(),
  /** The reason of a failure, as the provider or the gateway words it; otherwise empty. */
  fail_reason: Type.String(),
}

export const DrawingTask = Type.Object({
  ...TaskFields,
  mj_id: Type.String(),
  /** The provider's code: 1 submitted, 21 waiting, 22 duplicate; 0: not submitted. */
  code: Type.Integer(),
  description: Type.String(),
  prompt_en: Type.String(),
  /** A URL that browsers may open; empty while there is no picture. */
  image_url: Type.String(),
})
export type DrawingTask = Static<typeof DrawingTask>

/** One result of a music task; lyrics consist of the text only. */
export const Song = Type.Object({
  title: Type.String(),
  /** The lyrics. */
  text: Type.String(),
  tags: Type.String(),
  /** Seconds; 0 if unknown. */
  duration: Type.Number(),
  /** URLs that browsers may open; empty if there is none. */
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
 * The data of the live topic `tasks`: a changed task, or the progress of some tasks by their
 * `mj_id` or `task_id`. Progress has no position in the stream and is read again with each list.
 */
export type TaskPush =
  | { kind: 'drawing'; id: number; task: DrawingTask }
  | { kind: 'music'; id: number; task: MusicTask }
  | { kind: 'progress'; tasks: { id: string; progress: string }[] }

/** The columns that the newest 10 000 tasks can be sorted by. */
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

/** Times are in Unix seconds; both ends are inclusive. `channel_id` is only for admins. */
const Filters = {
  ...Query.page,
  channel_id: Query.integer,
  start_timestamp: Query.integer,
  end_timestamp: Query.integer,
  ...sortedBy(TASK_SORTS),
}
const DrawingQuery = Type.Object({ ...Filters, mj_id: Query.text })
const MusicQuery = Type.Object({ ...Filters, task_id: Query.text })
/** The query of either list. */
export type TaskQuery = Static<typeof DrawingQuery> & Static<typeof MusicQuery>

const drawings = { querystring: DrawingQuery, response: { 200: Envelope(TaskPage(DrawingTask)) } }
const music = { querystring: MusicQuery, response: { 200: Envelope(TaskPage(MusicTask)) } }

export const taskQueries = {
  'GET /api/mj/': drawings,
  'GET /api/mj/self': drawings,
  'GET /api/task/': music,
  'GET /api/task/self': music,
}
