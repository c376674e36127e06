import type { Logger } from 'pino'
import { warnThrottled } from '#infra/telemetry/log.ts'
import type { TaskLedger, TaskOutcome } from './task-ledger.ts'

/**
 * A task that a provider has accepted. `place` contains the channel, the key and the provider's id
 * of the task.
 */
export type AcceptedTask = {
  readonly task: string
  readonly userId: number
  /** The time at which the caller submitted the task, in Unix milliseconds. */
  readonly submittedAt: number
  readonly place: Parameters<TaskLedger['accept']>[2]
}

type Deps = {
  readonly ledger: Pick<TaskLedger, 'accept'>
  readonly log: Logger
  readonly now: () => number
}

/**
 * The maximum number of acceptances that wait in memory to be written. Each takes at most about 4
 * KB.
 */
const PENDING_MAX = 4_096
/**
 * The age of a task, in milliseconds, above which the writer no longer tries to write its
 * acceptance. Without this limit, an acceptance that can never be written would block all later
 * ones. The limit is as long as a task can be open, because the result of an open task must not be
 * lost.
 */
const PENDING_MS_MAX = 86_400_000
const RETRY_MS = 2_000

/**
 * Writes the events that record that providers accepted tasks. While the event store is
 * unavailable, the writer keeps an acceptance in memory and tries to write it again, until the task
 * is a day old. A lost acceptance is expensive, because the provider bills the task and only the
 * acceptance contains the provider's id. Every lost acceptance is logged for the operator.
 */
export class AcceptedTaskWriter {
  private readonly deps: Deps
  private readonly retryMs: number
  private pending: readonly AcceptedTask[] = []
  private timer: NodeJS.Timeout | null = null
  private writing: Promise<void> = Promise.resolve()
  private isStopped = false

  constructor(deps: Deps, retryMs = RETRY_MS) {
    this.deps = deps
    this.retryMs = retryMs
  }

  /**
   * Writes the acceptance of one task. Returns `pending` if the acceptance can't be written now.
   * The acceptance is then written later, or is logged as lost if too many acceptances wait or the
   * writer is stopped. Never throws.
   */
  async write(one: AcceptedTask): Promise<TaskOutcome | 'pending'> {
    try {
      return await this.accept(one)
    } catch (err) {
      this.keep(one, err)
      return 'pending'
    }
  }

  /**
   * Reports whether the acceptance of the task still waits to be written. If so, the task must not
   * be ended, because its result would be lost.
   */
  isPending(task: string): boolean {
    return this.pending.some((one) => one.task === task)
  }

  /**
   * Stops the retries. Tries once more to write the pending acceptances, and logs those that can't
   * be written.
   */
  async stop(): Promise<void> {
    this.isStopped = true
    if (this.timer !== null) clearTimeout(this.timer)
    await this.writing
    await this.writePending()
    for (const one of this.pending) this.reportLost(one)
    this.pending = []
  }

  private async accept(one: AcceptedTask): Promise<TaskOutcome> {
    const { task, userId, place } = one
    const outcome = await this.deps.ledger.accept(task, userId, place)
    if (outcome === 'TaskEnded') this.reportLost(one)
    return outcome
  }

  private keep(one: AcceptedTask, err: unknown): void {
    const { task } = one
    warnThrottled(this.deps.log, { err, task }, 'an accepted task could not be recorded yet')
    if (this.isStopped || this.pending.length >= PENDING_MAX) return this.reportLost(one)
    this.pending = [...this.pending, one]
    this.wait()
  }

  private wait(): void {
    if (this.timer !== null || this.isStopped) return
    this.timer = setTimeout(() => {
      this.writing = this.writePending().finally(() => {
        this.timer = null
        if (this.pending.length > 0) this.wait()
      })
    }, this.retryMs)
    this.timer.unref()
  }

  /**
   * Writes the pending acceptances in order, and logs those that are too old as lost. Stops at the
   * first failure.
   */
  private async writePending(): Promise<void> {
    for (const one of this.pending) {
      const isOld = this.deps.now() - one.submittedAt > PENDING_MS_MAX
      try {
        if (isOld) this.reportLost(one)
        else await this.accept(one)
      } catch {
        return
      }
      this.pending = this.pending.filter((other) => other !== one)
    }
  }

  /**
   * Logs an acceptance that was lost, with the ids by which an operator can find the task at its
   * provider.
   */
  private reportLost({ task, place: { channelId, upstreamId } }: AcceptedTask): void {
    this.deps.log.error({ task, channelId, upstreamId }, 'an accepted task was not recorded')
  }
}
