import type { TaskKind } from '#domain/task/events.ts'
import { warnThrottled } from '#infra/telemetry/log.ts'
import type { OpenTask } from '#projections/open-tasks/query.ts'
import type { AttemptEnd } from '#relay/pipeline/call-upstream.ts'
import type { RelayChannel, RelayKey } from '#relay/views/channel-view.ts'
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

export type LaneTimes = {
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
