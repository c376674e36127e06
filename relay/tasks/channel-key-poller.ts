import { causeOfExpiry, TASK_MS_MAX } from '#domain/tasks/decide.ts'
import type { TaskKind } from '#domain/tasks/events.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import type { OpenTask } from '#projections/open-tasks/query.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import type { RelayChannel, RelayKey } from '#relay/views/channel-view.ts'
import type { PermitLimits } from './limit-concurrent-work.ts'
import { type ProviderReport, reportsIn, STATUS_PATHS } from './read-provider-task-answers.ts'
import { recordReport } from './record-provider-report.ts'
import { sendTaskRequest } from './send-request-to-task-provider.ts'
import type { TaskDeps } from './task-deps.ts'
import type { UnansweredStatusQueries } from './unanswered-status-queries.ts'
import { reportsInVideoStatus, videoStatusRequest } from './videos/video-status-query.ts'

/** The channel and key to poll, and the kind of tasks to ask about. */
export type PollTarget = {
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly kind: TaskKind
}

/**
 * For each task id, the number of polls in a row without news of the task, and the time of the
 * first of these polls by `performance.now()`.
 */
type MissingPolls = Map<string, { readonly since: number; readonly polls: number }>

export type PollerTimes = {
  /**
   * The pause in milliseconds after a failure. The pause doubles with each failure in a row, up to
   * twelve times this value. If the provider's `Retry-After` is longer, it applies, up to a minute.
   */
  readonly everyMs: number
  /**
   * The age in milliseconds from which a task is late. A late task is polled once before all other
   * tasks, because it either has an outcome by now or expires soon.
   */
  readonly lateMs: number
  /**
   * A task ends only after several polls in a row without news of the task, over at least this time
   * in milliseconds. A task that its provider does not know then fails. An overdue task that the
   * provider's answers do not mention then expires.
   */
  readonly missingMs: number
}

/**
 * The limits of concurrent poll requests. `total` applies to all channels, and `PER_CHANNEL` to
 * each channel.
 */
export const POLL_PERMITS: PermitLimits = {
  total: 32,
  waiting: Number.POSITIVE_INFINITY,
  waitingPerName: Number.POSITIVE_INFINITY,
  waitMs: null,
}
const PER_CHANNEL = 3

/**
 * The minimum number of polls in a row without news of a task before the task ends: see
 * `missingMs`.
 */
const MISSING_POLLS = 5
/**
 * The number of failures in a row after which the provider counts as unavailable. All tasks that
 * still wait in the queue then count as unanswered. Fewer failures may be due to single tasks.
 */
const UNAVAILABLE_FAILURES = 4

const BATCH_MAX = 25
const AT_ONCE = 2
const ANSWER_MS = 20_000
/** The maximum time in milliseconds for a response that contains a file. */
const LONG_ANSWER_MS = 120_000

/**
 * Asks one channel, with one key, for the status of the tasks that were submitted with this key. A
 * failure pauses only this poller. After a failure, the next poll starts with the tasks after the
 * failed ones and asks about fewer tasks per request. A task that makes the provider fail therefore
 * delays other tasks only briefly.
 */
export class ChannelKeyPoller {
  private readonly deps: TaskDeps
  private readonly times: PollerTimes
  private readonly unanswered: UnansweredStatusQueries
  private batchMax = BATCH_MAX
  private failures = 0
  /** The time at which the pause ends, by `performance.now()`. */
  private pausedUntil = 0
  /** The last task in the request that failed, or null. */
  private failedAt: OpenTask | null = null
  /**
   * The status and progress that were last reported for each task. The key is the task's id. A
   * report with the same values is not processed again.
   */
  private readonly lastReports = new Map<string, string>()
  /** The late tasks that have already been polled before all other tasks. */
  private readonly polledLate = new Set<string>()
  /** The polls in a row in which the provider did not know a task. The key is the task's id. */
  private readonly missing: MissingPolls = new Map()
  /** The polls in a row in which the provider's answer did not mention a task. */
  private readonly unmentioned: MissingPolls = new Map()

  constructor(deps: TaskDeps, times: PollerTimes, unanswered: UnansweredStatusQueries) {
    this.deps = deps
    this.times = times
    this.unanswered = unanswered
  }

  /**
   * Asks the provider about all `tasks`, which are sorted by age, oldest first. Does nothing while
   * the poller is paused, and stops when the provider fails. `lost` is aborted when this process
   * has lost the poller's lease. Never rejects.
   */
  async poll(target: PollTarget, tasks: readonly OpenTask[], lost: AbortSignal): Promise<void> {
    if (this.isPaused()) return
    this.forgetOthers(tasks)
    const queue = this.orderedQueue(tasks)
    this.failedAt = null
    const names = [{ name: `channel ${target.channel.channelId}`, max: PER_CHANNEL }]
    const worker = async (): Promise<void> => {
      while (queue.length > 0 && !this.isPaused() && !lost.aborted) {
        const release = await this.deps.pollPermits.enter(names, lost)
        // While this worker waited for the permit, the poller's other worker may have emptied the
        // queue or paused the poller.
        const batch =
          release === null || this.isPaused() ? [] : queue.splice(0, batchOf(target, this.batchMax))
        if (batch.length === 0) return release?.()
        const end = await this.queryBatch(target, batch, lost).finally(release)
        const outcome = lost.aborted ? 'failed' : await this.handleAnswer(target, batch, end, lost)
        if (outcome === 'too-large' && batch.length > 1) queue.unshift(...batch)
        const isUnavailable = outcome === 'failed' && this.failures >= UNAVAILABLE_FAILURES
        if (isUnavailable && !lost.aborted) this.noteUnanswered(queue)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }

  private isPaused(): boolean {
    return performance.now() < this.pausedUntil
  }

  private forgetOthers(tasks: readonly OpenTask[]): void {
    const open = new Set(tasks.map(({ task }) => task))
    for (const task of this.lastReports.keys()) if (!open.has(task)) this.lastReports.delete(task)
    for (const task of this.polledLate) if (!open.has(task)) this.polledLate.delete(task)
    for (const polls of [this.missing, this.unmentioned]) {
      for (const task of polls.keys()) if (!open.has(task)) polls.delete(task)
    }
  }

  /**
   * Returns the tasks in the order in which they are polled: first late tasks, then the tasks after
   * the last failure, then all others.
   */
  private orderedQueue(tasks: readonly OpenTask[]): OpenTask[] {
    const { failedAt } = this
    const first = failedAt === null ? 0 : tasks.findIndex((task) => isAfter(task, failedAt))
    const round = first <= 0 ? tasks : [...tasks.slice(first), ...tasks.slice(0, first)]
    const late = round.filter((task) => this.isLate(task) && !this.polledLate.has(task.task))
    if (late.length === 0) return [...round]
    const isFirst = new Set(late)
    return [...late, ...round.filter((task) => !isFirst.has(task))]
  }

  private isLate({ submittedAt }: OpenTask): boolean {
    return this.deps.now() - submittedAt > this.times.lateMs
  }

  private queryBatch(
    { channel, key, kind }: PollTarget,
    batch: readonly OpenTask[],
    lost: AbortSignal,
  ): Promise<AttemptEnd> {
    for (const task of batch) if (this.isLate(task)) this.polledLate.add(task.task)
    const ids = batch.map(({ upstreamId }) => upstreamId ?? '')
    const question =
      kind === 'video'
        ? videoStatusRequest(this.deps, { channel, key }, ids[0] ?? '')
        : ({
            method: 'POST',
            path: STATUS_PATHS[kind],
            body: Buffer.from(JSON.stringify({ ids })),
          } as const)
    if (question === null) return Promise.resolve(NO_VENDOR)
    const isLong = 'hasLongTexts' in question
    const { providerOutbound, pictureOutbound } = this.deps
    return sendTaskRequest(
      isLong ? pictureOutbound : providerOutbound,
      key.target,
      question,
      AbortSignal.any([lost, AbortSignal.timeout(isLong ? LONG_ANSWER_MS : ANSWER_MS)]),
    )
  }

  private async handleAnswer(
    { channel, key, kind }: PollTarget,
    batch: readonly OpenTask[],
    end: AttemptEnd,
    lost: AbortSignal,
  ): Promise<'answered' | 'failed' | 'too-large'> {
    if (end.kind === 'failed' && end.error === 'too-large') {
      this.batchMax = Math.max(1, Math.ceil(batch.length / 2))
      this.warn(channel, 'too-large')
      if (batch.length === 1) this.noteUnanswered(batch)
      return 'too-large'
    }
    const reports =
      kind === 'video'
        ? reportsInVideoStatus(this.deps, { channel, key }, end, batch)
        : reportsOf(kind, end)
    this.trace(channel, batch, reports !== null)
    if (reports === null) {
      this.fail(batch, end.kind === 'failed' ? end.retryAfterMs : 0)
      this.warn(channel, end.kind === 'failed' ? end.error : 'format')
      return 'failed'
    }
    this.failures = 0
    this.pausedUntil = 0
    this.batchMax = Math.min(BATCH_MAX, this.batchMax * 2)
    const byId = new Map(reports.map((one) => [one.upstreamId, one]))
    for (const openTask of batch) {
      if (lost.aborted) break
      const one = byId.get(openTask.upstreamId ?? '')
      const isUnknown = one === undefined || one.isMissing === true
      // If the key of the submission was replaced, the new key may belong to an account that does
      // not have the task.
      if (isUnknown && key.keyRef !== openTask.keyRef) this.noteUnanswered([openTask])
      else if (one === undefined) await this.expireUnmentioned(openTask)
      else if (!this.mayAppearLater(openTask, one)) await this.note(openTask, channel, one)
    }
    return 'answered'
  }

  /**
   * Reports whether a provider that does not know a task may know it later. Returns false if the
   * provider knows the task, or has not known it for several polls in a row. Some providers know a
   * new task only after some seconds, or answer from a server that does not have it yet.
   */
  private mayAppearLater({ task }: OpenTask, { isMissing }: ProviderReport): boolean {
    this.unmentioned.delete(task)
    if (isMissing === true) return !this.isRepeated(this.missing, task)
    this.missing.delete(task)
    return false
  }

  /**
   * Counts a poll without news of a task. Returns true once there were at least `MISSING_POLLS`
   * such polls in a row, over at least `missingMs`.
   */
  private isRepeated(counts: MissingPolls, task: string): boolean {
    const now = performance.now()
    const { since, polls } = counts.get(task) ?? { since: now, polls: 0 }
    counts.set(task, { since, polls: polls + 1 })
    return polls + 1 >= MISSING_POLLS && now - since >= this.times.missingMs
  }

  private noteUnanswered(batch: readonly OpenTask[]): void {
    for (const { task } of batch) this.unanswered.add(task, this.deps.now())
  }

  private isOverdue({ submittedAt }: OpenTask): boolean {
    return this.deps.now() - submittedAt > TASK_MS_MAX
  }

  /**
   * Expires an overdue task if its provider's answers do not mention the task in several polls in a
   * row. A single answer is not enough. The task may be finished and charged by the provider
   * although a reverse proxy or a server that has just started does not know the task.
   */
  private async expireUnmentioned(openTask: OpenTask): Promise<void> {
    const { task } = openTask
    this.unanswered.remove(task)
    if (!this.isRepeated(this.unmentioned, task) || !this.isOverdue(openTask)) return
    const { ledger, log, now } = this.deps
    try {
      const record = await ledger.peek(task)
      if (record !== null && causeOfExpiry(record, now()) !== null) await ledger.expire(record)
    } catch (err) {
      log.warn({ err, task }, 'a task that its provider does not know could not be ended')
    }
  }

  private fail(batch: readonly OpenTask[], retryAfterMs: number): void {
    const { everyMs } = this.times
    const longer = Math.min(2 ** this.failures, 12)
    this.failures += 1
    this.pausedUntil =
      performance.now() + Math.max(everyMs * longer, Math.min(retryAfterMs, 60_000))
    this.batchMax = Math.max(1, Math.ceil(batch.length / 2))
    this.failedAt = batch.at(-1) ?? null
    this.noteUnanswered(batch)
  }

  /**
   * Logs that the provider was asked about tasks. Each task gets a separate log line, so that a
   * search for a task's id finds all its polls.
   */
  private trace({ channelId }: RelayChannel, batch: readonly OpenTask[], isAnswered: boolean) {
    const { log } = this.deps
    if (!log.isLevelEnabled('debug')) return
    for (const { task } of batch) {
      log.debug({ call: task, channelId, isAnswered }, 'a provider was polled about a task')
    }
  }

  private warn({ channelId }: RelayChannel, reason: string): void {
    warnThrottled(this.deps.log, { channelId, reason }, 'polling a provider about its tasks failed')
  }

  /**
   * Records the provider's report on one task. If this fails, the failure is only logged, so that
   * the other reports are still processed.
   */
  private async note(
    openTask: OpenTask,
    channel: RelayChannel,
    report: ProviderReport,
  ): Promise<void> {
    const { deps } = this
    const { task, keyRef } = openTask
    this.unanswered.remove(task)
    const statusAndProgress = `${report.status} ${report.progress}`
    const isOver = report.status === 'SUCCESS' || report.status === 'FAILURE'
    // A report without an outcome ends an overdue task, so it is recorded even if it repeats the
    // last one.
    const isKnown = this.lastReports.get(task) === statusAndProgress && !this.isOverdue(openTask)
    if (!isOver && isKnown) return
    try {
      const record = await deps.ledger.peek(task)
      if (record !== null && record.end === null) {
        // The report is recorded for the key that submitted the task, even if another key was used
        // to ask about the task.
        const place = { channelId: channel.channelId, keyRef: keyRef ?? '' }
        await recordReport(deps, record, place, report, channel)
      }
      this.lastReports.set(task, statusAndProgress)
    } catch (err) {
      deps.log.warn({ err, task }, 'the report of a provider on a task could not be recorded')
    }
  }
}

const isAfter = (one: OpenTask, other: OpenTask): boolean =>
  one.submittedAt > other.submittedAt ||
  (one.submittedAt === other.submittedAt && one.task > other.task)

/** Returns the number of tasks per request. A request about videos names only one task. */
const batchOf = ({ kind }: PollTarget, max: number): number => (kind === 'video' ? 1 : max)

const NO_VENDOR: AttemptEnd = {
  ...{ kind: 'failed', status: null, error: 'format' },
  ...{ body: Buffer.alloc(0), retryAfterMs: 0 },
}

/**
 * Returns the reports in a provider's response, or null if the provider failed or the response
 * can't be read.
 */
function reportsOf(
  kind: Exclude<TaskKind, 'video'>,
  end: AttemptEnd,
): readonly ProviderReport[] | null {
  if (end.kind !== 'plain') return null
  try {
    return reportsIn(kind, end.body)
  } catch {
    return null
  }
}
