import { setTimeout as delay } from 'node:timers/promises'
import { causeOfExpiry, TASK_MS_MAX } from '#domain/tasks/decide.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { isDatabaseAway } from '#infra/postgres/query-timeouts.ts'
import { type OpenTask, openTasks } from '#projections/open-tasks/query.ts'
import { runInParallel } from '#relay/run-in-parallel.ts'
import {
  isChannelDeleted,
  keysOfSubmitted,
} from '#relay/views/submission-checks-and-key-retries.ts'
import { ChannelKeyPoller, type PollTarget } from './channel-key-poller.ts'
import { POLL_TIMES, type PollTimes } from './poll-times.ts'
import type { TaskDeps } from './task-deps.ts'
import { TASK_LEASE_MS } from './task-ledger.ts'
import { UnansweredStatusQueries } from './unanswered-status-queries.ts'
import { UnconfirmedVideos } from './videos/unconfirmed-videos.ts'

/** Returns at most `limit` unfinished tasks, oldest first, that follow the task `after`. */
export type FindOpenTasks = (
  after: { readonly submittedAt: number; readonly task: string },
  limit: number,
) => Promise<readonly OpenTask[]>

export type Poller = { readonly stop: () => Promise<void> }

/** The default of `missingMs` in `PollTimes`. */
const MISSING_MS = 120_000

const LEASE = 'task-poller'
/**
 * The number of passes in which no task without a recorded acceptance is ended. They begin after an
 * outage of the database, or once this process has become the poller. During these passes, other
 * processes may still write acceptances that wait in their memory.
 */
const QUIET_PASSES = 6
const PAGE = 1_000
const EXPIRED_AT_ONCE = 4
/**
 * The age in milliseconds from which a task counts as late, because it may expire in five minutes.
 */
const LATE_MS = TASK_MS_MAX - 300_000

/**
 * Starts to poll providers every few seconds. Only the relay process that holds the poller's lease
 * polls.
 */
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
        poll.noteFailure(err)
        if (!lost.aborted) core.log.warn({ err }, 'a pass over the open tasks failed')
      })
      await delay(times.everyMs, undefined, { signal: lost, ref: false }).catch(() => {})
    }
    await poll.over()
  })
}

/**
 * The unfinished tasks, grouped by the poller that asks about them. A poller asks about the tasks
 * of one kind that were submitted to one channel with one key. `stale` contains the tasks that may
 * have expired. `stale` does not contain an accepted task whose lease is running and whose provider
 * answers, because the poller that asks about this task ends it. `unconfirmed` contains the videos
 * whose vendors must be asked whether they have the video.
 */
type Found = {
  readonly tasksByPoller: ReadonlyMap<string, readonly OpenTask[]>
  readonly stale: readonly OpenTask[]
  readonly unconfirmed: readonly OpenTask[]
}

/**
 * Asks the providers about their unfinished tasks and ends expired tasks. At most one poll runs at
 * a time for each kind of tasks at a channel with a key. A process that polls although it has lost
 * the lease does no harm, because the event stream of a task accepts only one end.
 */
class Poll {
  private readonly deps: TaskDeps
  private readonly find: FindOpenTasks
  private readonly times: PollTimes
  private readonly lost: AbortSignal
  private readonly pollers = new Map<string, ChannelKeyPoller>()
  private readonly running = new Map<string, Promise<void>>()
  /** The number of polls that each poller has begun. The key is the poller's name. */
  private readonly turns = new Map<string, number>()
  private readonly unanswered = new UnansweredStatusQueries()
  private readonly unconfirmed: UnconfirmedVideos
  /** The number of remaining passes in which no task without a recorded acceptance is ended. */
  private quietPasses = QUIET_PASSES

  constructor(deps: TaskDeps, find: FindOpenTasks, times: PollTimes, lost: AbortSignal) {
    this.deps = deps
    this.find = find
    this.times = times
    this.lost = lost
    const { missingMs = MISSING_MS } = times
    this.unconfirmed = new UnconfirmedVideos(deps, this.unanswered, missingMs)
  }

  noteFailure(err: unknown): void {
    if (err instanceof StoreUnavailable || isDatabaseAway(err)) this.quietPasses = QUIET_PASSES
  }

  async pass(): Promise<void> {
    const { tasksByPoller, stale, unconfirmed } = await this.findAll()
    this.quietPasses = Math.max(0, this.quietPasses - 1)
    if (this.lost.aborted) return
    const eachOf = (tasks: readonly OpenTask[], work: (task: OpenTask) => Promise<void>) =>
      runInParallel(tasks, EXPIRED_AT_ONCE, this.lost, work)
    this.begin('expired', () => eachOf(stale, (task) => this.expire(task)))
    this.begin('unconfirmed', () => eachOf(unconfirmed, (task) => this.search(task)))
    for (const name of this.pollers.keys()) {
      if (tasksByPoller.has(name) || this.running.has(name)) continue
      this.pollers.delete(name)
      this.turns.delete(name)
    }
    for (const [name, tasks] of tasksByPoller) this.ask(name, tasks)
    await this.deps.progress.sweep()
  }

  async over(): Promise<void> {
    await Promise.all(this.running.values())
  }

  private async findAll(): Promise<Found> {
    const tasksByPoller = new Map<string, OpenTask[]>()
    const stale: OpenTask[] = []
    const unconfirmed: OpenTask[] = []
    const open = new Set<string>()
    let after = { submittedAt: 0, task: '' }
    while (!this.lost.aborted) {
      const page = await this.find(after, PAGE)
      for (const task of page) {
        open.add(task.task)
        if (this.isStale(task)) stale.push(task)
        if (this.unconfirmed.isDue(task)) unconfirmed.push(task)
        // Nobody would pay for the result of a task once the lease of its call is over.
        const isOver = this.deps.now() - task.submittedAt > TASK_LEASE_MS
        if (task.channelId === null || isOver) continue
        const name = `${task.channelId}|${task.keyRef}|${task.kind}`
        const existing = tasksByPoller.get(name)
        if (existing === undefined) tasksByPoller.set(name, [task])
        else existing.push(task)
      }
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      after = { submittedAt: last.submittedAt, task: last.task }
    }
    if (!this.lost.aborted) {
      this.unanswered.keepOnly(open)
      this.unconfirmed.keepOnly(open)
    }
    return { tasksByPoller, stale, unconfirmed }
  }

  /**
   * Reports whether a task may have expired. A task that no provider is known to have accepted may
   * expire after `staleMs`. Any other task may expire after the maximum time of a task if its
   * provider does not answer. Every task may expire once the lease of its call is over, because the
   * call has then ended without a charge, and nobody would pay for a result.
   */
  private isStale(openTask: OpenTask): boolean {
    const now = this.deps.now()
    const age = now - openTask.submittedAt
    if (openTask.channelId === null) {
      return age > this.times.staleMs && this.quietPasses === 0
    }
    return age > TASK_MS_MAX && this.mayExpireUnanswered(openTask, now)
  }

  private mayExpireUnanswered(
    task: Parameters<UnansweredStatusQueries['mayExpireUnanswered']>[0],
    now: number,
  ): boolean {
    return now - task.submittedAt > TASK_LEASE_MS || this.unanswered.mayExpireUnanswered(task, now)
  }

  private ask(name: string, tasks: readonly OpenTask[]): void {
    const target = this.targetOf(name, tasks)
    if (target === null) return this.begin(name, () => this.abandon(tasks))
    const { everyMs, missingMs = MISSING_MS } = this.times
    const poller =
      this.pollers.get(name) ??
      new ChannelKeyPoller(this.deps, { everyMs, lateMs: LATE_MS, missingMs }, this.unanswered)
    this.pollers.set(name, poller)
    this.begin(name, () => poller.poll(target, tasks, this.lost))
  }

  /**
   * Returns the channel and key to poll, or null if this process knows no such channel or no key of
   * it. If the key that submitted the tasks was replaced, the channel's current keys take turns.
   * Only keys of the same account at the provider know the tasks.
   */
  private targetOf(name: string, [first]: readonly OpenTask[]): PollTarget | null {
    const { channelId, keyRef, kind } = first ?? {}
    const { channels } = this.deps.views
    const channel = channels.find(channelId ?? -1)
    if (channel === undefined || kind === undefined) return null
    const place = { channelId: channel.channelId, keyRef: keyRef ?? '' }
    const keys = keysOfSubmitted(channels, place)
    const turn = this.turns.get(name) ?? 0
    const key = keys[turn % keys.length]
    if (key === undefined) return null
    if (!this.running.has(name)) this.turns.set(name, turn + 1)
    return { channel, key, kind }
  }

  /** Starts `work` under a name. Does nothing while earlier work under this name is running. */
  private begin(name: string, work: () => Promise<unknown>): void {
    if (this.running.has(name)) return
    const { log } = this.deps
    const going = work()
      .then(() => {})
      .catch((err: unknown) => log.warn({ err }, 'a poll of open tasks failed'))
      .finally(() => this.running.delete(name))
    this.running.set(name, going)
  }

  /**
   * Handles tasks about which no provider can be asked. If their channel was deleted, the tasks are
   * ended, because the results can't be fetched without the channel's keys, and their quota would
   * stay reserved for no purpose. Otherwise, the provider counts as not answering about the tasks.
   */
  private async abandon(tasks: readonly OpenTask[]): Promise<void> {
    const { ledger, log, now } = this.deps
    const channelId = tasks[0]?.channelId ?? null
    if (channelId === null) return
    if (!(await isChannelDeleted(this.deps, channelId))) {
      for (const { task } of tasks) this.unanswered.add(task, now())
      return
    }
    await runInParallel(tasks, EXPIRED_AT_ONCE, this.lost, async ({ task }) => {
      try {
        const existing = await ledger.peek(task)
        if (existing === null || existing.end !== null) return
        await ledger.abandon(existing)
        log.warn({ call: task, channelId }, 'a task of a deleted channel was ended')
      } catch (err) {
        log.warn({ err, task }, 'a task of a deleted channel could not be ended')
      }
    })
  }

  private async search(openTask: OpenTask): Promise<void> {
    const { task } = openTask
    await this.unconfirmed.search(openTask, this.lost).catch((err: unknown) => {
      this.deps.log.warn({ err, task }, 'a vendor could not be searched for a video')
    })
  }

  private async expire(openTask: OpenTask): Promise<void> {
    const { task } = openTask
    const { acceptedTasks, claimedCalls, ledger, log, now } = this.deps
    if (acceptedTasks.isPending(task) || this.unconfirmed.mayExist(openTask)) return
    try {
      const existing = await ledger.peek(task)
      // `ledger.expire` also loads the account. To avoid this for a task that has not expired, the
      // expiry is checked here first.
      const cause = existing === null ? null : causeOfExpiry(existing, now())
      if (existing === null || cause === null) return
      // The list of open tasks may not show yet that a provider has accepted the task.
      const { place, submitted } = existing
      const isAsked = place === null || this.mayExpireUnanswered(submitted, now())
      if (!isAsked) return
      const outcome = await ledger.expire(existing)
      log.debug({ call: task, cause, outcome }, 'an expired task was ended')
      if (outcome !== 'changed' || existing.place !== null) return
      // The relay may have died before it answered the caller. The caller then repeats the request
      // with the same `Idempotency-Key`, so the claim of this key is deleted.
      await claimedCalls.freeCall({ tokenId: existing.submitted.tokenId, call: task })
    } catch (err) {
      this.noteFailure(err)
      log.warn({ err, task }, 'an expired task could not be ended')
    }
  }
}
