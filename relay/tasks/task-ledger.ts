import { accountDecider } from '#domain/accounts/decide.ts'
import { type Attempt, accountStream, type CallReleased } from '#domain/accounts/events.ts'
import type { PriceSnapshot, ProviderCost } from '#domain/pricing/price.ts'
import { NO_USAGE, type Usage, type UsageSource } from '#domain/pricing/usage.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { Quota } from '#domain/shared/quota.ts'
import {
  type AcceptTask,
  type DeleteTask,
  type FailTask,
  type MarkUnconfirmed,
  type ReportTask,
  TASK_MS_MAX,
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
import type { PlannedVideo } from './videos/plan-video.ts'

/**
 * The lease of a task's call. It exceeds the maximum time of a task. The sweeper therefore ends the
 * call only if no relay has ended the task.
 */
const LEASE_MS = TASK_MS_MAX + 600_000

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
  /** True if the request has an `Idempotency-Key` and may repeat an earlier call. */
  readonly isKeyed: boolean
}

/** A provider's report on a task. Its texts are not encrypted yet. */
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
 * Writes all events of tasks. One joint append ends a task and its call in the account. A further
 * report is then refused, so it does not change the charge.
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
   * Reads a task without caching its stream in memory. It is used for look-ups, polls and
   * callbacks.
   */
  async peek(task: string): Promise<TaskRecord | null> {
    return (await this.deps.actors.peek(taskDecider, taskStream(task))).record
  }

  /**
   * Admits the call and records the task. Returns null once the call and the task are durable, or
   * the error for the caller.
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
      leaseUntil: startedAt + LEASE_MS,
      startedAt,
      ...{ userId, tokenId, model, group, hold, price, clientIp },
      task: { openMax },
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
    if (!outcome.isDone) return admissionError(outcome.error, task, isKeyed)
    // A task may be sent only if its call has a hold, so the append must contain both events.
    const written = outcome.events.map(({ type }) => type)
    if (written.includes('CallAdmitted') && written.includes('TaskSubmitted')) return null
    return relayError('idempotency_replayed', { subject: task })
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

  /** Records where a task was sent. This is needed if the provider's answer was lost. */
  noteUnconfirmed(task: string, sentTo: Omit<MarkUnconfirmed, 'type'>): Promise<TaskOutcome> {
    return this.alone(task, { type: 'MarkUnconfirmed', ...sentTo })
  }

  /** Deletes a task that has ended. */
  delete(task: string): Promise<TaskOutcome> {
    return this.alone(task, { type: 'DeleteTask', at: this.deps.now() })
  }

  private async alone(
    task: string,
    command: AcceptTask | MarkUnconfirmed | DeleteTask,
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
    history: { readonly statusCode: number; readonly attempts: CallReleased['data']['attempts'] },
  ): Promise<TaskOutcome> {
    const words = await this.sealed(task.submitted.userId, failReason)
    const at = this.deps.now()
    const command = { type: 'FailTask', ...why, failReason: words, at } as const
    const code = `task_${why.cause}`
    return this.end(task, command, {
      ...this.release(task, 'upstream-error', code, why),
      ...history,
    })
  }

  /** Ends a task that has exceeded its maximum time. */
  expire(task: TaskRecord): Promise<TaskOutcome> {
    const command = { type: 'ExpireTask', at: this.deps.now() } as const
    const place = task.place ?? task.sentTo
    return this.end(task, command, this.release(task, 'timeout', 'task_timeout', place))
  }

  /** Ends a task whose channel was deleted, because nobody can fetch its result any more. */
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
 * Returns the usage of a task. A video never has more seconds or tokens than its hold covers. What
 * its vendor does not report is charged as it was requested.
 */
function usageOf(
  { submitted: { media } }: TaskRecord,
  made: VideoUsage = { seconds: null, tokens: null },
): { readonly usage: Usage; readonly usageSource: UsageSource } {
  if (media === undefined) return { usage: NO_USAGE, usageSource: 'upstream' }
  const seconds = Math.min(Math.max(1, made.seconds ?? media.seconds), media.seconds)
  const { tokensMax = 0 } = media
  const output = Math.min(made.tokens ?? tokensMax, tokensMax)
  const isEstimated = tokensMax > 0 && made.tokens === null
  return {
    usage: { ...NO_USAGE, seconds, output },
    usageSource: isEstimated ? 'estimated' : 'upstream',
  }
}

/** Returns the model that was sent, and whether the provider's answer names another one. */
function modelOf({ submitted: { model } }: TaskRecord, attempts: readonly Attempt[]) {
  const { sentModel = null, model: answered } = attempts.at(-1)?.evidence ?? {}
  const isOther = answered !== undefined && !isSameModel(sentModel ?? model, answered)
  return { upstreamModel: sentModel, anomaly: isOther ? 'other-model' : null }
}

/** Returns the channel's cost ratio at the time when the task was sent, if it is known. */
function costAt({ place, sentTo }: TaskRecord, channelId: number): Pick<ProviderCost, 'costRatio'> {
  const at = place ?? sentTo
  return at?.costRatio === undefined || at.channelId !== channelId
    ? {}
    : { costRatio: at.costRatio }
}

/** Returns the recorded attempts. If there are none, returns one attempt at the known channel. */
function triesOf({ place, sentTo }: TaskRecord, channelId: number | null): readonly Attempt[] {
  if (place?.attempts !== undefined) return place.attempts
  if (channelId === null) return []
  if (sentTo?.channelId === channelId) return sentTo.attempts
  return [{ channelId, status: 200, error: null, latencyMs: 0 }]
}
