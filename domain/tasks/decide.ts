import { assert } from '../shared/assert.ts'
import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { Sealed } from '../shared/event.ts'
import { type Quota, toWire } from '../shared/quota.ts'
import type {
  FailureCause,
  OpenStatus,
  TaskAccepted,
  TaskEvent,
  TaskFacts,
  TaskFailed,
  TaskStatus,
  TaskSubmitted,
  TaskSucceeded,
  TaskUnconfirmed,
} from './events.ts'

/** Submits a task. The same append admits the call of the task (`AdmitCall`). */
type SubmitTask = Omit<TaskSubmitted['data'], 'hold'> & {
  readonly type: 'SubmitTask'
  readonly hold: Quota
}

export type AcceptTask = Omit<TaskAccepted['data'], keyof TaskFacts> & {
  readonly type: 'AcceptTask'
}

/**
 * Records the channel and the key with which the task is sent next. The command is refused if the
 * task has ended or was accepted.
 */
export type RouteTask = Pick<TaskAccepted['data'], 'channelId' | 'keyRef'> & {
  readonly type: 'RouteTask'
}

/**
 * Records that the task was sent, but that the provider's answer was lost. The provider may still
 * report on the task with a callback.
 */
export type MarkUnconfirmed = TaskDestination & {
  readonly type: 'MarkUnconfirmed'
}

/**
 * Records the provider's report on a task, from a query or a callback. The same append settles the
 * call for `SUCCESS` or releases it for `FAILURE`. The command is refused if the task has ended, so
 * that the account does not change. An outcome (`SUCCESS` or `FAILURE`) of an open task is recorded
 * regardless of the age of the task. Any other report on a task that is more than an hour old is
 * refused. `at` is in Unix milliseconds.
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

/** Ends a task that no provider accepted. The same append releases the call. */
export type FailTask = {
  readonly type: 'FailTask'
  readonly cause: Extract<FailureCause, 'refused' | 'unreachable'>
  readonly channelId: number | null
  readonly code: number | null
  readonly failReason: Sealed | null
  readonly at: number
}

/**
 * Ends a task that has exceeded its maximum duration. The sender must first ask the provider for an
 * outcome, and may send this command only if there is none. The same append releases the call.
 */
type ExpireTask = { readonly type: 'ExpireTask'; readonly at: number }

/** Ends a task whose channel was deleted. The same append releases the call. */
type AbandonTask = { readonly type: 'AbandonTask'; readonly at: number }

/** Deletes a task that has ended. Nothing is charged or released. */
export type DeleteTask = { readonly type: 'DeleteTask'; readonly at: number }

export type TaskCommand =
  | SubmitTask
  | RouteTask
  | AcceptTask
  | MarkUnconfirmed
  | ReportTask
  | FailTask
  | ExpireTask
  | AbandonTask
  | DeleteTask

type TaskErrorCode =
  | 'TaskUnknown'
  | 'TaskEnded'
  /**
   * A provider has already accepted the task, but on another channel or with another id than in the
   * command. `RouteTask` and `FailTask` are refused for any accepted task.
   */
  | 'TaskElsewhere'
  /**
   * The task is more than an hour old, and the provider reports no outcome. `ExpireTask` must end
   * such a task.
   */
  | 'TaskTooOld'
  /**
   * The task can't be expired yet, can't be abandoned because no provider has accepted it, or can't
   * be deleted because it is still open.
   */
  | 'TaskNotOver'

export type TaskError = CodedError<TaskErrorCode>

export type TaskLocation = Pick<
  TaskAccepted['data'],
  'channelId' | 'costRatio' | 'keyRef' | 'upstreamId' | 'code' | 'description' | 'attempts'
>

type TaskDestination = Pick<
  TaskUnconfirmed['data'],
  'channelId' | 'costRatio' | 'keyRef' | 'attempts'
>

export type TaskRecord = {
  readonly submitted: TaskSubmitted['data']
  /** The channel and the provider's id of the task, or null before a provider has accepted it. */
  readonly place: TaskLocation | null
  /** The channel to which the task was sent if the provider's answer was lost; null otherwise. */
  readonly sentTo: TaskDestination | null
  readonly status: TaskStatus
  readonly startedAt: number | null
  /** The data of the task's final event, or null while the task is open. */
  readonly end: TaskSucceeded['data'] | TaskFailed['data'] | null
  /** The time of the deletion in Unix milliseconds. Undefined if the task was not deleted. */
  readonly deletedAt?: number
}

type TaskState = { readonly record: TaskRecord | null }

const noTask = (): TaskState => ({ record: null })

/**
 * The maximum duration of a task in milliseconds. After this time, the task can be expired, which
 * releases its hold. An outcome that the provider reports later is still recorded if the task is
 * open, because the provider has done the work and charges for it.
 */
export const TASK_MS_MAX = 3_600_000

/**
 * The maximum duration in milliseconds of a task that no provider has accepted. A provider that had
 * accepted the task would have reported on the task within this time.
 */
const UNACCEPTED_MS_MAX = 600_000

/**
 * A task's status can only move to a higher rank, so that late or reordered reports change nothing.
 */
const RANKS: Record<OpenStatus, number> = {
  UNKNOWN: 0,
  NOT_START: 1,
  SUBMITTED: 2,
  QUEUED: 3,
  MODAL: 3,
  IN_PROGRESS: 4,
}

type Outcome = readonly TaskEvent[] | TaskError

export const taskDecider: Decider<TaskState, TaskCommand, TaskEvent, TaskError> = {
  initialState: noTask,
  decide,
  evolve,
}

function decide(command: TaskCommand, { record }: TaskState): Outcome {
  if (command.type === 'SubmitTask') {
    const { type, hold, ...facts } = command
    if (record !== null) return []
    return [{ type: 'TaskSubmitted', v: 1, data: { ...facts, hold: toWire(hold) } }]
  }
  if (record === null) return codedError('TaskUnknown')
  switch (command.type) {
    case 'RouteTask':
      return route(command, record)
    case 'AcceptTask':
      return accept(command, record)
    case 'MarkUnconfirmed':
      return noteUnconfirmed(command, record)
    case 'ReportTask':
      return report(command, record)
    case 'FailTask':
      return fail(command, record)
    case 'ExpireTask':
      return expire(command, record)
    case 'AbandonTask':
      return abandon(command, record)
    case 'DeleteTask':
      return remove(command, record)
  }
}

const factsOf = ({ submitted: { task, userId, kind } }: TaskRecord): TaskFacts => ({
  task,
  userId,
  kind,
})

function route({ type, ...to }: RouteTask, record: TaskRecord): Outcome {
  if (record.end !== null) return codedError('TaskEnded')
  if (record.place !== null) return codedError('TaskElsewhere')
  return [{ type: 'TaskRouted', v: 1, data: { ...factsOf(record), ...to } }]
}

/**
 * Records that a provider accepted the task, unless a callback has already recorded the acceptance.
 */
function accept({ type, ...place }: AcceptTask, record: TaskRecord): Outcome {
  if (record.place !== null) return isSameLocation(place, record) ? [] : codedError('TaskElsewhere')
  if (record.end !== null) return codedError('TaskEnded')
  return [{ type: 'TaskAccepted', v: 1, data: { ...factsOf(record), ...place } }]
}

const isSameLocation = (
  { channelId, upstreamId }: { readonly channelId: number; readonly upstreamId: string },
  { place }: TaskRecord,
): boolean => place?.channelId === channelId && place.upstreamId === upstreamId

/**
 * Records that the provider's answer was lost, unless a callback has already recorded the
 * acceptance.
 */
function noteUnconfirmed({ type, ...sentTo }: MarkUnconfirmed, record: TaskRecord): Outcome {
  if (record.end !== null) return codedError('TaskEnded')
  if (record.place !== null || record.sentTo !== null) return []
  return [{ type: 'TaskUnconfirmed', v: 1, data: { ...factsOf(record), ...sentTo } }]
}

function report(command: ReportTask, record: TaskRecord): Outcome {
  const { channelId, keyRef, upstreamId, status, at } = command
  if (record.place !== null && !isSameLocation(command, record)) return codedError('TaskElsewhere')
  if (record.end !== null) return codedError('TaskEnded')
  const isOutcome = status === 'SUCCESS' || status === 'FAILURE'
  if (!isOutcome && isTooOld(record, at)) return codedError('TaskTooOld')
  const facts = factsOf(record)
  const accepted: TaskEvent[] = []
  if (record.place === null) {
    const place = { channelId, keyRef, upstreamId, code: 1, description: null }
    const { sentTo } = record
    const tries = sentTo?.channelId === channelId ? sentTo : {}
    const data = { ...facts, ...tries, ...place, status: 'SUBMITTED' as const }
    accepted.push({ type: 'TaskAccepted', v: 1, data })
  }
  const { startedAt } = record
  if (status === 'SUCCESS') {
    const { imageUrl = null, promptEn = null, result = null } = command
    const data = { ...facts, channelId, startedAt, finishedAt: at, imageUrl, promptEn, result }
    return [...accepted, { type: 'TaskSucceeded', v: 1, data }]
  }
  if (status === 'FAILURE') {
    const { failReason = null } = command
    return [...accepted, failed(record, { cause: 'failed', channelId, code: null, failReason }, at)]
  }
  // An event without a known status could not be read again.
  assert(Object.hasOwn(RANKS, status), 'a report without a known status')
  const from = record.place === null ? 'SUBMITTED' : (record.status as OpenStatus)
  if (RANKS[status] <= RANKS[from]) return accepted
  const begunAt = startedAt ?? (status === 'IN_PROGRESS' ? at : null)
  const data = { ...facts, status, startedAt: begunAt }
  return [...accepted, { type: 'TaskStatusChanged', v: 1, data }]
}

function fail({ at, type, ...why }: FailTask, record: TaskRecord): Outcome {
  if (record.end !== null) return codedError('TaskEnded')
  if (record.place !== null) return codedError('TaskElsewhere')
  return [failed(record, why, at)]
}

/** Ends any task after an hour, and a task without acceptance after ten minutes. */
function expire({ at }: ExpireTask, record: TaskRecord): Outcome {
  if (record.end !== null) return codedError('TaskEnded')
  const cause = causeOfExpiry(record, at)
  if (cause === null) return codedError('TaskNotOver')
  const channelId = (record.place ?? record.sentTo)?.channelId ?? null
  return [failed(record, { cause, channelId, code: null, failReason: null }, at)]
}

/**
 * Ends a task whose channel was deleted, because nobody can ask the provider about the task now.
 */
function abandon({ at }: AbandonTask, record: TaskRecord): Outcome {
  if (record.end !== null) return codedError('TaskEnded')
  if (record.place === null) return codedError('TaskNotOver')
  const { channelId } = record.place
  const why = { cause: 'channel-deleted', channelId, code: null, failReason: null } as const
  return [failed(record, why, at)]
}

function remove({ at: deletedAt }: DeleteTask, record: TaskRecord): Outcome {
  if (record.end === null) return codedError('TaskNotOver')
  if (record.deletedAt !== undefined) return []
  return [{ type: 'TaskDeleted', v: 1, data: { ...factsOf(record), deletedAt } }]
}

/**
 * Returns the cause with which the task can be expired. Returns null if the task is not old enough
 * or has ended.
 */
export function causeOfExpiry(record: TaskRecord, at: number): FailureCause | null {
  if (record.end !== null) return null
  if (isTooOld(record, at)) return 'timeout'
  const isLost = record.place === null && at - record.submitted.submittedAt > UNACCEPTED_MS_MAX
  return isLost ? 'lost' : null
}

const isTooOld = ({ submitted }: TaskRecord, at: number): boolean =>
  at - submitted.submittedAt > TASK_MS_MAX

type FailureReason = Pick<TaskFailed['data'], 'cause' | 'channelId' | 'code' | 'failReason'>

function failed(record: TaskRecord, why: FailureReason, finishedAt: number): TaskFailed {
  const { startedAt } = record
  return { type: 'TaskFailed', v: 1, data: { ...factsOf(record), ...why, startedAt, finishedAt } }
}

function evolve({ record }: TaskState, event: TaskEvent): TaskState {
  if (event.type === 'TaskSubmitted') {
    const { data: submitted } = event
    const nowhere = { place: null, sentTo: null, startedAt: null, end: null }
    return { record: { submitted, ...nowhere, status: 'NOT_START' } }
  }
  assert(record !== null, `${event.type} of a task that was not submitted`)
  switch (event.type) {
    case 'TaskRouted':
      return { record }
    case 'TaskAccepted': {
      const { task, userId, kind, status, ...place } = event.data
      return { record: { ...record, status, place } }
    }
    case 'TaskUnconfirmed': {
      const { task, userId, kind, ...sentTo } = event.data
      return { record: { ...record, sentTo } }
    }
    case 'TaskStatusChanged': {
      const { status, startedAt } = event.data
      return { record: { ...record, status, startedAt } }
    }
    case 'TaskSucceeded':
      return { record: { ...record, status: 'SUCCESS', end: event.data } }
    case 'TaskFailed':
      return { record: { ...record, status: 'FAILURE', end: event.data } }
    case 'TaskDeleted':
      return { record: { ...record, deletedAt: event.data.deletedAt } }
  }
}
