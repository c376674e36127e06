import type {
  TaskAccepted,
  TaskFailed,
  TaskStatus,
  TaskSubmitted,
  TaskSucceeded,
  TaskUnconfirmed,
} from './events.ts'

/** Where a task is: with which provider, and as what. */
export type TaskPlace = Pick<
  TaskAccepted['data'],
  'channelId' | 'costRatio' | 'keyRef' | 'upstreamId' | 'code' | 'description' | 'attempts'
>

/** Where a task was sent whose answer is lost. */
export type TaskSentTo = Pick<
  TaskUnconfirmed['data'],
  'channelId' | 'costRatio' | 'keyRef' | 'attempts'
>

export type KnownTask = {
  readonly submitted: TaskSubmitted['data']
  /** null: no provider has taken it. */
  readonly place: TaskPlace | null
  /** null: its provider answered, or it was not sent. */
  readonly sentTo: TaskSentTo | null
  readonly status: TaskStatus
  readonly startedAt: number | null
  /** null while it is open. */
  readonly end: TaskSucceeded['data'] | TaskFailed['data'] | null
}

export type TaskState = { readonly known: KnownTask | null }

export const noTask = (): TaskState => ({ known: null })
