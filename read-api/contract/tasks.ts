import Type, { type Static, type TSchema } from 'typebox'
import { Page } from './envelope.ts'

/** `total` counts up to 100 000; `is_total_capped`: there are more. */
export const TaskPage = <T extends TSchema>(item: T) =>
  Type.Object({ ...Page(item).properties, is_total_capped: Type.Boolean() })

/** What a drawing and a music task have in common. */
const TaskFacts = {
  /** Grows with time. */
  id: Type.Integer(),
  user_id: Type.Integer(),
  username: Type.String(),
  /** 0 and empty for anyone but admins, and while no channel has it. */
  channel_id: Type.Integer(),
  channel_name: Type.String(),
  /** `IMAGINE`, `UPSCALE`, `MUSIC`… */
  action: Type.String(),
  /** `NOT_START`, `SUBMITTED`, `QUEUED`, `MODAL`, `IN_PROGRESS`, `UNKNOWN`; `SUCCESS`, `FAILURE` */
  status: Type.String(),
  /** `40%`. */
  progress: Type.String(),
  /** Unix seconds; 0: not yet. */
  submit_time: Type.Integer(),
  start_time: Type.Integer(),
  finish_time: Type.Integer(),
  /** What was asked for, in the caller's words. */
  prompt: Type.String(),
  /** Why it failed, in its provider's words or else in ours; empty while it has not. */
  fail_reason: Type.String(),
}

export const DrawingTask = Type.Object({
  ...TaskFacts,
  mj_id: Type.String(),
  /** As its provider answered: 1 submitted, 21 waiting, 22 duplicate; 0: not submitted. */
  code: Type.Integer(),
  description: Type.String(),
  prompt_en: Type.String(),
  /** An address that a browser may open; empty while there is no picture. */
  image_url: Type.String(),
})
export type DrawingTask = Static<typeof DrawingTask>

/** One piece of what a music task made; of lyrics, the text alone. */
export const Song = Type.Object({
  title: Type.String(),
  /** Its lyrics. */
  text: Type.String(),
  tags: Type.String(),
  /** Seconds; 0: not told. */
  duration: Type.Number(),
  /** Addresses that a browser may open, as the picture's; empty where there is none. */
  audio_url: Type.String(),
  image_url: Type.String(),
})
export type Song = Static<typeof Song>

export const MusicTask = Type.Object({
  ...TaskFacts,
  task_id: Type.String(),
  platform: Type.String(),
  songs: Type.Array(Song),
})
export type MusicTask = Static<typeof MusicTask>

/**
 * What the live topic `tasks` carries: a task as it now is, or how far some of them are, by their
 * `mj_id` or `task_id`. The latter has no place in the stream, and is read again with each list.
 */
export type TaskPush =
  | { kind: 'drawing'; id: number; task: DrawingTask }
  | { kind: 'music'; id: number; task: MusicTask }
  | { kind: 'progress'; tasks: { id: string; progress: string }[] }
