import type { Logger } from 'pino'
import { TASK_MS_MAX } from '#domain/task/decide.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import type { TaskLedger, TaskOutcome } from './task-ledger.ts'

/** That a provider took a task, and as what. */
export type Acceptance = {
  readonly task: string
  readonly userId: number
  /** Unix milliseconds. */
  readonly submittedAt: number
  readonly place: Parameters<TaskLedger['accept']>[2]
}

type Deps = {
  readonly ledger: Pick<TaskLedger, 'accept'>
  readonly log: Logger
  readonly now: () => number
}

/** Some 4 KB each, at most. */
const KEPT_MAX = 4_096
const AGAIN_MS = 2_000

/**
 * What providers took goes into the ledger, also where the store is away just then: kept here and
 * written again until it is, or until the task is over. A provider bills for what it took, and no
 * one else knows under which id it has it: what does not get there is told to the operator.
 */
export class Acceptances {
  private readonly deps: Deps
  private readonly againMs: number
  private kept: readonly Acceptance[] = []
  private timer: NodeJS.Timeout | null = null
  private writing: Promise<void> = Promise.resolve()
  private isStopped = false

  constructor(deps: Deps, againMs = AGAIN_MS) {
    this.deps = deps
    this.againMs = againMs
  }

  /** `kept`: it is not durable yet. Never throws. */
  async write(one: Acceptance): Promise<TaskOutcome | 'kept'> {
    try {
      return await this.accept(one)
    } catch (err) {
      this.keep(one, err)
      return 'kept'
    }
  }

  /** Whoever ends it now for want of a provider loses what that one makes. */
  isKept(task: string): boolean {
    return this.kept.some((one) => one.task === task)
  }

  /** One last time, and then it is told what nobody knows any more. */
  async stop(): Promise<void> {
    this.isStopped = true
    if (this.timer !== null) clearTimeout(this.timer)
    await this.writing
    await this.writeKept()
    for (const one of this.kept) this.lose(one)
    this.kept = []
  }

  private async accept(one: Acceptance): Promise<TaskOutcome> {
    const { task, userId, place } = one
    const outcome = await this.deps.ledger.accept(task, userId, place)
    if (outcome === 'TaskEnded') this.lose(one)
    return outcome
  }

  private keep(one: Acceptance, err: unknown): void {
    const { task } = one
    warnThrottled(this.deps.log, { err, task }, 'where a task is could not be written down yet')
    if (this.isStopped || this.kept.length >= KEPT_MAX) return this.lose(one)
    this.kept = [...this.kept, one]
    this.wait()
  }

  private wait(): void {
    if (this.timer !== null || this.isStopped) return
    this.timer = setTimeout(() => {
      this.writing = this.writeKept().finally(() => {
        this.timer = null
        if (this.kept.length > 0) this.wait()
      })
    }, this.againMs)
    this.timer.unref()
  }

  /** In their order, up to the first that fails again. */
  private async writeKept(): Promise<void> {
    for (const one of this.kept) {
      const isOld = this.deps.now() - one.submittedAt > TASK_MS_MAX
      try {
        if (isOld) this.lose(one)
        else await this.accept(one)
      } catch {
        return
      }
      this.kept = this.kept.filter((other) => other !== one)
    }
  }

  /** For an operator to find it by. */
  private lose({ task, place: { channelId, upstreamId } }: Acceptance): void {
    this.deps.log.error({ task, channelId, upstreamId }, 'where a task is was not written down')
  }
}
