import { setTimeout as delay } from 'node:timers/promises'
import { causeOfExpiry, TASK_MS_MAX } from '#domain/task/decide.ts'
import type { Core } from '#infra/core.ts'
import { type OpenTask, openTasks } from '#projections/open-tasks/query.ts'
import { inParallel } from '#relay/channel-actions/in-parallel.ts'
import { type Asked, PollLane } from './poll-lane.ts'
import type { TaskDeps } from './task-deps.ts'

/** A page of what has not ended, oldest first; a seam for tests without read models. */
export type FindOpenTasks = (
  after: { readonly submittedAt: number; readonly task: string },
  limit: number,
) => Promise<readonly OpenTask[]>

export type Poller = { readonly stop: () => Promise<void> }

export type PollTimes = {
  readonly everyMs: number
  /** From then on a task is asked whether it is over without its provider. */
  readonly staleMs: number
}

export const POLL_TIMES: PollTimes = { everyMs: 5_000, staleMs: 600_000 }

const LEASE = 'task-poller'
const PAGE = 1_000
const EXPIRED_AT_ONCE = 4
/** Before nobody waits any more. */
const LATE_MS = TASK_MS_MAX - 300_000

/** A pass every few seconds, in one process of all that run a relay: whoever holds the lease. */
export function startPoller(
  core: Pick<Core, 'db' | 'leases' | 'log'>,
  deps: TaskDeps,
  { find, times = POLL_TIMES }: { find?: FindOpenTasks | undefined; times?: PollTimes | undefined },
): Poller {
  const pages: FindOpenTasks = find ?? ((after, limit) => openTasks(core.db, after, limit))
  return core.leases.hold(LEASE, async (_lease, lost) => {
    const poll = new Poll(deps, pages, times, lost)
    while (!lost.aborted) {
      await poll.pass().catch((err: unknown) => {
        if (!lost.aborted) core.log.warn({ err }, 'tasks could not be looked after just now')
      })
      await delay(times.everyMs, undefined, { signal: lost, ref: false }).catch(() => {})
    }
    await poll.over()
  })
}

/** What is open, by who has it; and what is over without anybody. */
type Found = {
  readonly lanes: ReadonlyMap<string, readonly OpenTask[]>
  readonly stale: readonly string[]
}

/**
 * Has each provider asked about its tasks, and ends those that nobody reports on any more. Each of
 * these goes on by itself, over several passes where it must. Whoever wakes without the lease does
 * no harm: each task decides for itself, once.
 */
class Poll {
  private readonly deps: TaskDeps
  private readonly find: FindOpenTasks
  private readonly times: PollTimes
  private readonly lost: AbortSignal
  private readonly lanes = new Map<string, PollLane>()
  private readonly running = new Map<string, Promise<void>>()

  constructor(deps: TaskDeps, find: FindOpenTasks, times: PollTimes, lost: AbortSignal) {
    this.deps = deps
    this.find = find
    this.times = times
    this.lost = lost
  }

  async pass(): Promise<void> {
    const { lanes, stale } = await this.findAll()
    if (this.lost.aborted) return
    this.begin('', () => inParallel(stale, EXPIRED_AT_ONCE, this.lost, (task) => this.expire(task)))
    for (const name of this.lanes.keys()) {
      if (!lanes.has(name) && !this.running.has(name)) this.lanes.delete(name)
    }
    for (const [name, tasks] of lanes) this.ask(name, tasks)
    await this.deps.progress.sweep()
  }

  async over(): Promise<void> {
    await Promise.all(this.running.values())
  }

  private async findAll(): Promise<Found> {
    const lanes = new Map<string, OpenTask[]>()
    const stale: string[] = []
    let after = { submittedAt: 0, task: '' }
    while (!this.lost.aborted) {
      const page = await this.find(after, PAGE)
      for (const task of page) {
        if (this.isStale(task)) stale.push(task.task)
        if (task.channelId === null) continue
        const name = `${task.channelId}|${task.keyRef}|${task.kind}`
        const known = lanes.get(name)
        if (known === undefined) lanes.set(name, [task])
        else known.push(task)
      }
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      after = { submittedAt: last.submittedAt, task: last.task }
    }
    return { lanes, stale }
  }

  /** One that a provider is known to have has its whole time. */
  private isStale({ submittedAt, channelId }: OpenTask): boolean {
    const age = this.deps.now() - submittedAt
    return age > (channelId === null ? this.times.staleMs : TASK_MS_MAX)
  }

  private ask(name: string, tasks: readonly OpenTask[]): void {
    const asked = this.askedOf(tasks)
    if (asked === null) return
    const { everyMs } = this.times
    const lane = this.lanes.get(name) ?? new PollLane(this.deps, { everyMs, lateMs: LATE_MS })
    this.lanes.set(name, lane)
    this.begin(name, () => lane.ask(asked, tasks, this.lost))
  }

  /** null: its channel or key is gone. */
  private askedOf([first]: readonly OpenTask[]): Asked | null {
    const channel = this.deps.views.channels.find(first?.channelId ?? -1)
    const key = channel?.allKeys.find(({ keyRef }) => keyRef === first?.keyRef)
    if (first === undefined || channel === undefined || key === undefined) return null
    return { channel, key, kind: first.kind }
  }

  /** Unless it still goes on. */
  private begin(name: string, work: () => Promise<unknown>): void {
    if (this.running.has(name)) return
    const { log } = this.deps
    const going = work()
      .then(() => {})
      .catch((err: unknown) => log.warn({ err }, 'tasks could not be looked after just now'))
      .finally(() => this.running.delete(name))
    this.running.set(name, going)
  }

  private async expire(task: string): Promise<void> {
    const { acceptances, ledger, log, now } = this.deps
    if (acceptances.isKept(task)) return
    try {
      const known = await ledger.glance(task)
      // Asked of the task alone: to expire it takes its account, too.
      if (known !== null && causeOfExpiry(known, now()) !== null) await ledger.expire(known)
    } catch (err) {
      log.warn({ err, task }, 'a task that is over could not be ended')
    }
  }
}
