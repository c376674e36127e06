import Type, { type Static, type TSchema } from 'typebox'
import { Query, sortedBy } from './request-parameters.ts'
import type { Fields } from './resource-field-definition.ts'
import { Envelope, Page } from './response-envelope.ts'
import { responseProperties } from './schemas-from-field-definitions.ts'

/**
 * The schema of a page of tasks. At most 100 000 tasks are counted, or 10 000 if the list is not in
 * the default order. If there are more tasks, `total` is this maximum and `is_total_capped` is
 * true.
 */
const TaskPage = <T extends TSchema>(item: T) =>
  Type.Object({ ...Page(item).properties, is_total_capped: Type.Boolean() })

const TASK_FIELDS = {
  /**
   * The position of the event that submitted the task. The newest task has the highest position.
   */
  position: { wire: 'id', type: 'integer', access: 'read' },
  userId: { wire: 'user_id', type: 'integer', access: 'read' },
  username: { wire: 'username', type: 'text', access: 'read' },
  /**
   * The channel that processes the task. 0 if no channel was chosen yet, and in responses to users
   * who are not admins.
   */
  channelId: { wire: 'channel_id', type: 'integer', access: 'read' },
  channelName: { wire: 'channel_name', type: 'text', access: 'read' },
  /** The action of the task, such as `IMAGINE`, `UPSCALE` or `MUSIC`. */
  action: { wire: 'action', type: 'text', access: 'read' },
  /**
   * `NOT_START`, `SUBMITTED`, `QUEUED`, `MODAL`, `IN_PROGRESS` or `UNKNOWN` until the task ends.
   * The final status is `SUCCESS` or `FAILURE`.
   */
  status: { wire: 'status', type: 'text', access: 'read' },
  /** The progress in percent, such as `40%`. */
  progress: { wire: 'progress', type: 'text', access: 'read', isComputed: true },
  /**
   * The time at which the task was submitted. Responses contain 0 for times that are not known yet.
   */
  submittedAt: { wire: 'submit_time', type: 'timeMs', access: 'read' },
  startedAt: { wire: 'start_time', type: 'timeMs', access: 'read' },
  finishedAt: { wire: 'finish_time', type: 'timeMs', access: 'read' },
  prompt: { wire: 'prompt', type: 'encryptedText', access: 'read' },
  /**
   * The reason why the task failed, as the provider or the gateway describes it. Empty if there is
   * no reason.
   */
  failReason: { wire: 'fail_reason', type: 'encryptedText', access: 'read' },
} as const satisfies Fields

/** The fields of a drawing task, in the order of the responses. */
export const DRAWING_FIELDS = {
  ...TASK_FIELDS,
  id: { wire: 'mj_id', type: 'text', access: 'read' },
  /**
   * The code in the provider's response: 0 means not submitted, 1 submitted, 21 waiting, and 22
   * duplicate.
   */
  code: { wire: 'code', type: 'integer', access: 'read' },
  description: { wire: 'description', type: 'encryptedText', access: 'read' },
  promptEn: { wire: 'prompt_en', type: 'encryptedText', access: 'read' },
  /** The URL of the picture for a browser. Empty if there is no picture yet. */
  imageUrl: { wire: 'image_url', type: 'encryptedText', access: 'read' },
} as const satisfies Fields

export const DrawingTask = Type.Object(responseProperties(DRAWING_FIELDS))
export type DrawingTask = Static<typeof DrawingTask>

/** One song or one text of a music task. For lyrics, only `text` is set. */
export const Song = Type.Object({
  title: Type.String(),
  text: Type.String(),
  tags: Type.String(),
  /** The duration in seconds, or 0 if it is unknown. */
  duration: Type.Number(),
  /**
   * The URL of the audio file for a browser. Empty if there is no audio file. `image_url` is the
   * URL of the cover.
   */
  audio_url: Type.String(),
  image_url: Type.String(),
})
export type Song = Static<typeof Song>

/** The video that a task makes. */
export const Video = Type.Object({
  /**
   * A path of this site from which a browser can load the video for one day. Empty until the video
   * is finished, and after the video was deleted.
   */
  url: Type.String(),
  /** The requested length in seconds. */
  seconds: Type.Number(),
  /**
   * The requested resolution, such as `720p` or `1280x720`. Empty if the vendor offers only one
   * resolution.
   */
  resolution: Type.String(),
})
export type Video = Static<typeof Video>

/**
 * The fields of a music or video task, in the order of the responses. The songs and the video
 * follow these fields.
 */
export const MUSIC_FIELDS = {
  ...TASK_FIELDS,
  id: { wire: 'task_id', type: 'text', access: 'read' },
  platform: { wire: 'platform', type: 'text', access: 'read' },
  model: { wire: 'model', type: 'text', access: 'read' },
} as const satisfies Fields

export const MusicTask = Type.Object({
  ...responseProperties(MUSIC_FIELDS),
  songs: Type.Array(Song),
  /** The video of the task. Null for a music task. */
  video: Type.Union([Video, Type.Null()]),
})
export type MusicTask = Static<typeof MusicTask>

/**
 * A live message with a changed task, or with the progress of several tasks. In `tasks`, `id` is
 * the `mj_id` or `task_id` of a task. Progress that a client has missed is not sent again, because
 * the list of tasks contains the progress.
 */
export type TaskPush =
  | { kind: 'drawing'; id: number; task: DrawingTask }
  | { kind: 'music'; id: number; task: MusicTask }
  | { kind: 'progress'; tasks: { id: string; progress: string }[] }

/**
 * The columns by which tasks can be sorted. A sorted list contains only the newest 10 000 tasks.
 * Tasks can't be sorted by other columns, because texts are encrypted, ids are random, and the
 * progress is not stored.
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

/**
 * The filters for a list of tasks. Times are in Unix seconds. The range includes both of its ends.
 * `channel_id` is only for admins.
 */
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
