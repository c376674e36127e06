import type { Refusal } from '../shared/refusal.ts'

export type TaskRefusalCode =
  | 'TaskUnknown'
  /** It has succeeded or failed: that stands. */
  | 'TaskEnded'
  /** Another channel has it, or it has another id there. */
  | 'TaskElsewhere'
  /** Over an hour old: it is to be expired. */
  | 'TaskTooOld'
  /** It may still come to something. */
  | 'TaskNotOver'

export type TaskRefusal = Refusal<TaskRefusalCode>
