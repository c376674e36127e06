import type { Sealed } from '../shared/event.ts'
import type { Quota } from '../shared/quota.ts'
import type { FailureCause, TaskAccepted, TaskFacts, TaskStatus, TaskSubmitted } from './events.ts'
import type { TaskSentTo } from './state.ts'

/** Beside `AdmitCall`, in one append. */
export type SubmitTask = Omit<TaskSubmitted['data'], 'hold'> & {
  readonly type: 'SubmitTask'
  readonly hold: Quota
}

/** A provider took it. */
export type AcceptTask = Omit<TaskAccepted['data'], keyof TaskFacts> & {
  readonly type: 'AcceptTask'
}

/** Its provider's answer is lost: a call back may say more. */
export type NoteUnconfirmed = TaskSentTo & {
  readonly type: 'NoteUnconfirmed'
}

/**
 * What its provider says of it, asked or unasked; with `SUCCESS` beside `SettleCall` and with
 * `FAILURE` beside `ReleaseCall`, in one append. Refused where the task is over, so that the
 * account's part is not carried out either. `at`: now, unix milliseconds.
 */
export type ReportTask = {
  readonly type: 'ReportTask'
  readonly channelId: number
  readonly keyRef: string
  readonly upstreamId: string
  readonly status: TaskStatus
  readonly at: number
  readonly imageUrl?: Sealed | null
  readonly promptEn?: Sealed | null
  readonly result?: Sealed | null
  readonly failReason?: Sealed | null
}

/** No provider took it; beside `ReleaseCall`. */
export type FailTask = {
  readonly type: 'FailTask'
  readonly cause: Extract<FailureCause, 'refused' | 'unreachable'>
  readonly channelId: number | null
  readonly code: number | null
  readonly failReason: Sealed | null
  readonly at: number
}

/** Ends what nobody will report on any more; beside `ReleaseCall`. */
export type ExpireTask = { readonly type: 'ExpireTask'; readonly at: number }

export type TaskCommand =
  | SubmitTask
  | AcceptTask
  | NoteUnconfirmed
  | ReportTask
  | FailTask
  | ExpireTask
