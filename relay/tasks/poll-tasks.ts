import { setTimeout as delay } from 'node:timers/promises'
import { causeOfExpiry, TASK_MS_MAX } from '#domain/task/decide.ts'
import type { TaskKind } from '#domain/task/events.ts'
import type { Core } from '#infra/core.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import { type OpenTask, openTasks } from '#projections/open-tasks/query.ts'
import { inParallel } from '../channel-actions/in-parallel.ts'
import type { AttemptEnd } from '../pipeline/call-upstream.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import { askUpstream } from './ask-upstream.ts'
import type { SeatsMax } from './permits.ts'
import { type Told, toldIn } from './provider-words.ts'
import { takeReport } from './take-report.ts'
import type { TaskDeps } from './task-deps.ts'

/** Who is asked, and what about. */
export type Asked = {
  readonly channel: RelayChannel
  readonly key: RelayKey
  readonly kind: TaskKind
}

type LaneTimes = {
  /** After a failure; twice as long after each further one, up to twelve times. */
  readonly everyMs: number
  /** From that age on a task is asked about out of turn, once: soon nobody waits for it. */
  readonly lateMs: number
}

/** Askings under way, over all lanes: each has its turn, and no channel more than a few. */
export const POLL_PERMITS: SeatsMax = {
  total: 32,
  waiting: Number.POSITIVE_INFINITY,
  waitingOfName: Number.POSITIVE_INFINITY,
  waitMs: null,
}
const OF_CHANNEL = 3

const PIECE_MAX = 25
const AT_ONCE = 2
const ANSWER_MS = 20_000
const PATHS = { drawing: '/mj/task/list-by-condition', music: '/suno/fetch' } as const

/**
 * One channel, asked by one key about its tasks, and kept waiting by no other. One that fails is
 * left alone for a while, and is then asked about the next tasks, and fewer at a time: so it may be
 * that a single task spoils the answer, it keeps the others waiting no longer than that.
 */
export class PollLane {
  private readonly deps: TaskDeps
  private readonly times: LaneTimes
  private pieceMax = PIECE_MAX
  private failures = 0
  /** By the process's own clock. */
  private quietUntil = 0
  /** The last one that was asked about in vain. */
  private stoppedAt: OpenTask | null = null
  /** What was said of each task last: what is no news costs nothing more. */
  private readonly heard = new Map<string, string>()
  /** Of those that are, the ones it was asked about since, in vain or not. */
  private readonly late = new Set<string>()

  constructor(deps: TaskDeps, times: LaneTimes) {
    this.deps = deps
    this.times = times
  }

  /** Asks about all of them (oldest first), as far as it is answered. Never rejects. */
  async ask(asked: Asked, tasks: readonly OpenTask[], lost: AbortSignal): Promise<void> {
    if (this.isQuiet()) return
    this.forgetOthers(tasks)
    const queue = this.inOrder(tasks)
    this.stoppedAt = null
    const names = [{ name: `channel ${asked.channel.channelId}`, max: OF_CHANNEL }]
    const worker = async (): Promise<void> => {
      while (queue.length > 0 && !this.isQuiet() && !lost.aborted) {
        const leave = await this.deps.pollPermits.enter(names, lost)
        // Meanwhile the other one may have asked about the last, or in vain.
        const piece = leave === null || this.isQuiet() ? [] : queue.splice(0, this.pieceMax)
        if (piece.length === 0) return leave?.()
        const end = await this.askAbout(asked, piece, lost).finally(leave)
        const outcome = lost.aborted ? 'failed' : await this.takeIn(asked, piece, end, lost)
        if (outcome === 'too-large' && piece.length > 1) queue.unshift(...piece)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }

  private isQuiet(): boolean {
    return performance.now() < this.quietUntil
  }

  private forgetOthers(tasks: readonly OpenTask[]): void {
    const open = new Set(tasks.map(({ task }) => task))
    for (const task of this.heard.keys()) if (!open.has(task)) this.heard.delete(task)
    for (const task of this.late) if (!open.has(task)) this.late.delete(task)
  }

  /** From where it stopped on, and round; before them, whatever is getting late. */
  private inOrder(tasks: readonly OpenTask[]): OpenTask[] {
    const { stoppedAt } = this
    const first = stoppedAt === null ? 0 : tasks.findIndex((task) => isAfter(task, stoppedAt))
    const round = first <= 0 ? tasks : [...tasks.slice(first), ...tasks.slice(0, first)]
    const late = round.filter((task) => this.isLate(task) && !this.late.has(task.task))
    if (late.length === 0) return [...round]
    const isFirst = new Set(late)
    return [...late, ...round.filter((task) => !isFirst.has(task))]
  }

  private isLate({ submittedAt }: OpenTask): boolean {
    return this.deps.now() - submittedAt > this.times.lateMs
  }

  private askAbout(
    { key, kind }: Asked,
    piece: readonly OpenTask[],
    lost: AbortSignal,
  ): Promise<AttemptEnd> {
    for (const task of piece) if (this.isLate(task)) this.late.add(task.task)
    const ids = piece.map(({ upstreamId }) => upstreamId)
    return askUpstream(
      this.deps.side,
      key.target,
      { method: 'POST', path: PATHS[kind], body: Buffer.from(JSON.stringify({ ids })) },
      AbortSignal.any([lost, AbortSignal.timeout(ANSWER_MS)]),
    )
  }

  private async takeIn(
    { channel, key, kind }: Asked,
    piece: readonly OpenTask[],
    end: AttemptEnd,
    lost: AbortSignal,
  ): Promise<'answered' | 'failed' | 'too-large'> {
    if (end.kind === 'failed' && end.error === 'too-large') {
      this.pieceMax = Math.max(1, Math.ceil(piece.length / 2))
      this.warn(channel, 'too-large')
      return 'too-large'
    }
    const told = end.kind === 'plain' ? readable(kind, end.body) : null
    if (told === null) {
      this.fail(piece, end.kind === 'failed' ? end.retryAfterMs : 0)
      this.warn(channel, end.kind === 'failed' ? end.error : 'format')
      return 'failed'
    }
    this.failures = 0
    this.quietUntil = 0
    this.pieceMax = Math.min(PIECE_MAX, this.pieceMax * 2)
    const byId = new Map(told.map((one) => [one.upstreamId, one]))
    for (const { task, upstreamId } of piece) {
      const one = byId.get(upstreamId ?? '')
      if (one !== undefined && !lost.aborted) await this.note(task, { channel, key, kind }, one)
    }
    return 'answered'
  }

  private fail(piece: readonly OpenTask[], retryAfterMs: number): void {
    const { everyMs } = this.times
    const longer = Math.min(2 ** this.failures, 12)
    this.failures += 1
    this.quietUntil = performance.now() + Math.max(everyMs * longer, Math.min(retryAfterMs, 60_000))
    this.pieceMax = Math.max(1, Math.ceil(piece.length / 2))
    this.stoppedAt = piece.at(-1) ?? null
  }

  private warn({ channelId }: RelayChannel, reason: string): void {
    warnThrottled(this.deps.log, { channelId, reason }, 'a provider was asked about tasks in vain')
  }

  /** One that can't be noted now keeps none of the others. */
  private async note(task: string, { channel, key }: Asked, told: Told): Promise<void> {
    const { deps } = this
    const words = `${told.status} ${told.progress}`
    const isOver = told.status === 'SUCCESS' || told.status === 'FAILURE'
    if (!isOver && this.heard.get(task) === words) return
    try {
      const known = await deps.ledger.glance(task)
      if (known !== null && known.end === null) {
        const place = { channelId: channel.channelId, keyRef: key.keyRef }
        await takeReport(deps, known, place, told, channel)
      }
      this.heard.set(task, words)
    } catch (err) {
      deps.log.warn({ err, task }, 'what a provider said of a task could not be noted')
    }
  }
}

const isAfter = (one: OpenTask, other: OpenTask): boolean =>
  one.submittedAt > other.submittedAt ||
  (one.submittedAt === other.submittedAt && one.task > other.task)

/** null as well where reading it fails: that is the provider's fault, and must cost no other. */
function readable(kind: TaskKind, body: Buffer): readonly Told[] | null {
  try {
    return toldIn(kind, body)
  } catch {
    return null
  }
}

/** A page of what has not ended, oldest first; a seam for tests without read models. */
export type FindOpenTasks = (
  after: { readonly submittedAt: number; readonly task: string },
  limit: number,
) => Promise<readonly OpenTask[]>

type Poller = { readonly stop: () => Promise<void> }

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
