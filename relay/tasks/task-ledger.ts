import { accountDecider } from '#domain/accounts/decide.ts'
import { type Attempt, accountStream, type CallReleased } from '#domain/accounts/events.ts'
import type { PriceSnapshot, ProviderCost } from '#domain/pricing/price-snapshot.ts'
import {
  conditionsOfUsage,
  NO_USAGE,
  type PriceCondition,
  type Usage,
  type UsageSource,
} from '#domain/pricing/usage.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { Quota } from '#domain/shared/quota.ts'
import { secondsMade } from '#domain/shared/seconds-made.ts'
import {
  type AcceptTask,
  type DeleteTask,
  type FailTask,
  type MarkUnconfirmed,
  type ReportTask,
  type RouteTask,
  type TaskError,
  type TaskRecord,
  taskDecider,
} from '#domain/tasks/decide.ts'
import { taskStream } from '#domain/tasks/events.ts'
import type { AnyStep, StreamActors } from '#infra/event-store/stream-actors-port.ts'
import type { Vault } from '#infra/vault/port.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { admissionError } from '#relay/pipeline/call-ledger.ts'
import { isSameModel } from '../canonical/check-answered-model-and-cost.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { TaskRequest } from './plan-task.ts'
import type { VideoUsage } from './read-provider-task-answers.ts'
import type { PlannedVideo } from './videos/select-channels-and-build-video-request.ts'

/**
 * The lease of a task's call in milliseconds: the time after which any process may end the call
 * without a charge. The lease is much longer than the maximum time of a task, because the poller
 * must still be able to charge a task that a provider finished while all relays were down. A call
 * ends in this way only if no relay has ended the task.
 */
export const TASK_LEASE_MS = 7 * 86_400_000

export type Submission = {
  readonly task: string
  readonly caller: Caller
  readonly request: TaskRequest
  /** The group whose price is charged. */
  readonly group: string
  readonly price: PriceSnapshot
  readonly hold: Quota
  readonly isNotified: boolean
  readonly video: PlannedVideo | null
  /** The maximum number of unfinished tasks of the user, including this task. */
  readonly openMax: number
  readonly startedAt: number
  readonly clientIp: Sealed | null
  /** True if the request has an `Idempotency-Key`. The call may then exist already. */
  readonly isKeyed: boolean
}

/** A provider's report on a task, with texts that are not encrypted yet. */
export type TaskReport = Pick<ReportTask, 'channelId' | 'keyRef' | 'upstreamId' | 'status'> & {
  readonly imageUrl?: string | null
  readonly promptEn?: string | null
  readonly result?: string | null
  readonly failReason?: string | null
  /** The usage of a finished video. Omitted for other tasks. */
  readonly made?: VideoUsage
}

export type TaskOutcome = 'changed' | 'same' | TaskError['code']

type Deps = {
  readonly actors: StreamActors
  readonly vault: Pick<Vault, 'seal'>
  readonly now: () => number
}

/**
 * Writes all events of tasks. When a task ends, one joint append writes the end of the task and the
 * end of its call in the account. Either both are written or neither. Later reports on the task are
 * refused, so they do not change the charge.
 */
export class TaskLedger {
  private readonly deps: Deps

  constructor(deps: Deps) {
    this.deps = deps
  }

  async find(task: string): Promise<TaskRecord | null> {
    return (await this.deps.actors.stateOf(taskDecider, taskStream(task))).record
  }

  /**
   * Reads a task without caching its event stream in memory. This method is used for look-ups,
   * polls and callbacks.
   */
  async peek(task: string): Promise<TaskRecord | null> {
    return (await this.deps.actors.peek(taskDecider, taskStream(task))).record
  }

  /**
   * Admits the task's call, which reserves its quota, and records the task. Returns null once both
   * are durable, or the error for the caller.
   */
  async submit(submission: Submission): Promise<RelayError | null> {
    const { task, caller, request, price, hold, openMax, startedAt, clientIp, isKeyed } = submission
    const { userId } = caller.user
    const { tokenId } = caller.token
    const { group } = submission
    const { kind, action, model, originId: origin } = request
    const { platform = request.platform, media } = submission.video ?? {}
    const admission = {
      type: 'AdmitCall',
      call: task,
      isStream: false,
      leaseUntil: startedAt + TASK_LEASE_MS,
      startedAt,
      ...{ userId, tokenId, model, group, hold, price, clientIp },
      task: request.stepOf === undefined ? { openMax } : { openMax, stepOf: request.stepOf },
    } as const
    const prompt = await this.sealed(userId, request.prompt)
    const state = await this.sealed(userId, request.state)
    const submitted = {
      type: 'SubmitTask',
      ...{ task, userId, kind, tokenId, platform, action, model, group, hold, prompt, origin },
      ...(state === null ? {} : { state }),
      isNotified: submission.isNotified,
      ...(media === undefined ? {} : { media }),
      submittedAt: startedAt,
    } as const
    const outcome = await this.together(
      [
        { decider: accountDecider, stream: accountStream(userId), command: admission },
        { decider: taskDecider, stream: taskStream(task), command: submitted },
      ],
      `token:${tokenId}`,
      task,
    )
    const submittedBefore = relayError('idempotency_submitted', { subject: task })
    if (!outcome.isDone) {
      const { code, params } = outcome.error
      if (code === 'StepOpen') return relayError('task_step_running', { subject: `${params.step}` })
      if (code === 'StepTooLate') return relayError('task_step_too_late', { subject: `${origin}` })
      const error = admissionError(outcome.error, task, isKeyed)
      return error.code === 'idempotency_replayed' ? submittedBefore : error
    }
    // A task may be sent only if quota is reserved for its call, so both events must have been
    // written. Otherwise, the task or the call exists already.
    const written = outcome.events.map(({ type }) => type)
    if (written.includes('CallAdmitted') && written.includes('TaskSubmitted')) return null
    return submittedBefore
  }

  /** Records the channel and the key to which the task is sent next. */
  route(task: string, to: Omit<RouteTask, 'type'>): Promise<TaskOutcome> {
    return this.alone(task, { type: 'RouteTask', ...to })
  }

  async accept(
    task: string,
    userId: number,
    {
      description,
      ...place
    }: Omit<AcceptTask, 'type' | 'description'> & {
      readonly description: string | null
    },
  ): Promise<TaskOutcome> {
    const words = await this.sealed(userId, description)
    return this.alone(task, { type: 'AcceptTask', ...place, description: words })
  }

  /**
   * Records the channel to which a task was sent without a readable response. It is then unknown
   * whether the provider accepted the task.
   */
  noteUnconfirmed(task: string, sentTo: Omit<MarkUnconfirmed, 'type'>): Promise<TaskOutcome> {
    return this.alone(task, { type: 'MarkUnconfirmed', ...sentTo })
  }

  /** Deletes a task that has ended. */
  delete(task: string): Promise<TaskOutcome> {
    return this.alone(task, { type: 'DeleteTask', at: this.deps.now() })
  }

  private async alone(
    task: string,
    command: RouteTask | AcceptTask | MarkUnconfirmed | DeleteTask,
  ): Promise<TaskOutcome> {
    const context = { actor: 'system:tasks', cause: task, at: this.deps.now() }
    const { actors } = this.deps
    const outcome = await actors.handle(taskDecider, taskStream(task), command, context)
    if (!outcome.isDone) return outcome.error.code
    return outcome.events.length > 0 ? 'changed' : 'same'
  }

  /** Records a provider's report from a poll or a callback. */
  async report(task: TaskRecord, report: TaskReport): Promise<TaskOutcome> {
    const { userId } = task.submitted
    const { imageUrl, promptEn, result, failReason, made, ...statusReport } = report
    const isEnd = statusReport.status === 'SUCCESS' || statusReport.status === 'FAILURE'
    const seal = (text: string | null | undefined) => this.sealed(userId, text ?? null)
    const texts = isEnd
      ? {
          imageUrl: await seal(imageUrl),
          promptEn: await seal(promptEn),
          result: await seal(result),
          failReason: await seal(failReason),
        }
      : {}
    const command: ReportTask = {
      type: 'ReportTask',
      ...statusReport,
      ...texts,
      at: this.deps.now(),
    }
    if (statusReport.status === 'SUCCESS')
      return this.end(task, command, this.settlement(task, statusReport, made))
    if (statusReport.status !== 'FAILURE') return this.end(task, command, null)
    return this.end(
      task,
      command,
      this.release(task, 'upstream-error', 'task_failed', statusReport),
    )
  }

  /** Ends a task that no provider accepted. */
  async fail(
    task: TaskRecord,
    {
      failReason,
      ...why
    }: Omit<FailTask, 'type' | 'at' | 'failReason'> & {
      readonly failReason: string | null
    },
    history: Pick<CallReleased['data'], 'errorCode' | 'statusCode' | 'attempts'>,
  ): Promise<TaskOutcome> {
    const words = await this.sealed(task.submitted.userId, failReason)
    const at = this.deps.now()
    const command = { type: 'FailTask', ...why, failReason: words, at } as const
    return this.end(task, command, {
      ...this.release(task, 'upstream-error', history.errorCode, why),
      ...history,
    })
  }

  /** Ends a task that has exceeded its maximum time. Its quota is released. */
  expire(task: TaskRecord): Promise<TaskOutcome> {
    const command = { type: 'ExpireTask', at: this.deps.now() } as const
    const place = task.place ?? task.sentTo
    return this.end(task, command, this.release(task, 'timeout', 'task_timeout', place))
  }

  /**
   * Ends a task whose channel was deleted, because its result can no longer be fetched. Its quota
   * is released.
   */
  abandon(task: TaskRecord): Promise<TaskOutcome> {
    const command = { type: 'AbandonTask', at: this.deps.now() } as const
    const code = 'task_channel_deleted'
    return this.end(task, command, this.release(task, 'upstream-error', code, task.place))
  }

  private async end(task: TaskRecord, command: object, money: object | null): Promise<TaskOutcome> {
    const { task: id, userId } = task.submitted
    const steps: AnyStep[] = [{ decider: taskDecider, stream: taskStream(id), command }]
    if (money !== null) {
      steps.push({ decider: accountDecider, stream: accountStream(userId), command: money })
    }
    const outcome = await this.together(steps, 'system:tasks', id)
    if (outcome.isDone) return outcome.events.length > 0 ? 'changed' : 'same'
    return outcome.error.code as TaskError['code']
  }

  private settlement(
    task: TaskRecord,
    { channelId }: { readonly channelId: number },
    made: VideoUsage | undefined,
  ) {
    const attempts = triesOf(task, channelId)
    return {
      type: 'SettleCall',
      call: task.submitted.task,
      channelId,
      ...costAt(task, channelId),
      ...modelOf(task, attempts),
      ...usageOf(task, made),
      end: 'done',
      attempts,
      timings: this.timings(task),
    } as const
  }

  private release(
    task: TaskRecord,
    reason: 'upstream-error' | 'timeout',
    errorCode: string,
    place: { readonly channelId: number | null } | null,
  ) {
    const channelId = place?.channelId ?? null
    return {
      type: 'ReleaseCall',
      call: task.submitted.task,
      channelId,
      reason,
      errorCode,
      statusCode: 200,
      attempts: triesOf(task, channelId),
      timings: this.timings(task),
    } as const
  }

  private timings({ submitted: { submittedAt: startedAt } }: TaskRecord) {
    const durationMs = Math.max(0, this.deps.now() - startedAt)
    return { startedAt, firstByteMs: null, durationMs }
  }

  private async sealed(userId: number, text: string | null): Promise<Sealed | null> {
    return text === null || text === '' ? null : this.deps.vault.seal(userId, text)
  }

  private together(steps: readonly AnyStep[], actor: string, cause: string) {
    return this.deps.actors.handleTogether(steps, { actor, cause, at: this.deps.now() })
  }
}

/**
 * Returns the usage of a task that is charged. The seconds and tokens of a video are at most those
 * for which quota was reserved. Tokens that the vendor does not report, or reports as 0, are
 * charged as they were reserved, as are seconds (see `secondsMade`). If a video is billed by
 * tokens, the price of the tokens depends on whether the video has sound. `usageSource` is
 * `upstream` only if the vendor reports what is charged. Drawings and songs have no reports.
 */
function usageOf(
  { submitted: { media } }: TaskRecord,
  made: VideoUsage = { seconds: null, tokens: null },
): { readonly usage: Usage; readonly usageSource: UsageSource } {
  if (media === undefined) return { usage: NO_USAGE, usageSource: 'estimated' }
  const seconds = secondsMade(media.seconds, made.seconds)
  const { tokensMax = 0 } = media
  const tokens = made.tokens || null
  const output = Math.min(tokens ?? tokensMax, tokensMax)
  const isByTokens = tokensMax > 0
  const conditions: readonly PriceCondition[] =
    isByTokens && media.options.includes('audio') ? ['audio'] : []
  const isEstimated = isByTokens ? tokens === null : !made.seconds
  return {
    usage: { ...NO_USAGE, seconds, output, ...conditionsOfUsage(conditions) },
    usageSource: isEstimated ? 'estimated' : 'upstream',
  }
}

/**
 * Returns the provider's name for the requested model, and the anomaly `other-model` if the
 * provider's response names another model.
 */
function modelOf({ submitted: { model } }: TaskRecord, attempts: readonly Attempt[]) {
  const { sentModel = null, model: answered } = attempts.at(-1)?.evidence ?? {}
  const isOther = answered !== undefined && !isSameModel(sentModel ?? model, answered)
  return { upstreamModel: sentModel, anomaly: isOther ? 'other-model' : null }
}

/**
 * Returns the cost ratio that the channel had when the task was sent to it, or an empty object if
 * it is not known.
 */
function costAt({ place, sentTo }: TaskRecord, channelId: number): Pick<ProviderCost, 'costRatio'> {
  const at = place ?? sentTo
  return at?.costRatio === undefined || at.channelId !== channelId
    ? {}
    : { costRatio: at.costRatio }
}

/**
 * Returns the recorded attempts to submit the task. If none are recorded, returns one successful
 * attempt at the channel `channelId`, or an empty list if `channelId` is null.
 */
function triesOf({ place, sentTo }: TaskRecord, channelId: number | null): readonly Attempt[] {
  if (place?.attempts !== undefined) return place.attempts
  if (channelId === null) return []
  if (sentTo?.channelId === channelId) return sentTo.attempts
  return [{ channelId, status: 200, error: null, latencyMs: 0 }]
}
