import { setTimeout as delay } from 'node:timers/promises'
import type { Recorded } from '#domain/shared/event.ts'
import { ALL_LANES, LANE_COUNT, laneOf } from '#infra/event-bus/lane-of-stream.ts'
import type { LaneBatch, LaneWorker } from '#infra/event-bus/port.ts'
import type { Projection } from '../projection.ts'
import type { AdvanceSignal } from '../read-model-freshness/read-model-advance-signal.ts'
import { definitionOf, readCheckpoints } from './checkpoints.ts'
import { type FoldAndCommitDeps, foldAndCommit, segmentOf } from './fold-and-commit-events.ts'
import {
  type Cursor,
  failureOf,
  healthOf,
  type ProjectionFailure,
  type ProjectionHealth,
} from './lane-cursors-and-projection-health.ts'
import {
  type AheadOfEvents,
  describeAhead,
  readAheadOfEvents,
  recordAheadOfEvents,
} from './read-models-ahead-of-events.ts'

const BATCH_MAX = 1_000
/**
 * The minimum time between the starts of two transactions in milliseconds, unless a batch is full.
 * Under load, a transaction therefore writes many events with few statements. After a pause, a new
 * event is folded immediately.
 */
const INTERVAL_MS = 200
/**
 * The value that replaces `INTERVAL_MS` while a reader waits for read models or follows their
 * positions.
 */
const INTERVAL_WITH_READERS_MS = 50
const RETRY_MS = 250
/**
 * The interval in milliseconds at which the worker checks whether another process has rebuilt a
 * stopped read model.
 */
const STOPPED_CHECK_INTERVAL_MS = 2_000

type Pending = PromiseWithResolvers<void> & { readonly batch: LaneBatch }

/**
 * The error that the bus receives if another process may own the lanes by now. After this error,
 * the bus can deliver the events again.
 */
class LanesNotOwned extends Error {
  constructor(lanes: Iterable<number>) {
    super(`lanes ${[...lanes].join(', ')} may be another process's now`)
    this.name = 'LanesNotOwned'
  }
}

type Deps = FoldAndCommitDeps & {
  readonly readers: Pick<AdvanceSignal, 'hasReaders' | 'onReader'>
}

/**
 * Folds the events that the bus delivers. A cursor is the progress of one projection in one lane.
 * One transaction folds the next pending batch of each lane. If cursors are behind the bus, the
 * missing events are read from the event store once for all of these cursors.
 */
export class ProjectionWorker implements LaneWorker {
  private readonly deps: Deps
  private readonly projections: readonly Projection[]
  /** The failures of the projections whose read models could not be built. */
  private readonly failures: ReadonlyMap<Projection, ProjectionFailure>
  /**
   * The failures of read models that include events which the store does not have. Such a failure
   * ends when the read model is rebuilt.
   */
  private readonly failuresAhead = new WeakSet<ProjectionFailure>()
  private cursors: Cursor[] = []
  /**
   * For each lane, the last position that the bus has reported. Initially, it is the store's last
   * position when the lane was acquired. A cursor below this position reads the missing events from
   * the store.
   */
  private readonly reached = new Map<number, number>()
  private pending: Pending[] = []
  private workArrived = Promise.withResolvers<void>()
  private nextPage: { readonly key: string; readonly events: Promise<Recorded[]> } | null = null
  private checkedAt = performance.now()
  private readonly running: Promise<void>

  constructor(
    deps: Deps,
    projections: readonly Projection[],
    failures: ReadonlyMap<Projection, ProjectionFailure>,
  ) {
    this.deps = deps
    this.projections = projections
    this.failures = failures
    deps.stopping.addEventListener('abort', () => this.wake())
    this.running = this.run()
  }

  readonly onGained = async (lanes: readonly number[]): Promise<void> => {
    const { core, onMoved } = this.deps
    // The record is read before the checkpoints. If the read model is rebuilt in between, the
    // cursors get the new checkpoints and a failure, which `restart` removes. In the opposite
    // order, they could get the former checkpoints without a failure.
    const ahead = await recordAheadOfEvents(core)
    const [checkpoints, head] = await Promise.all([
      readCheckpoints(core.pg),
      core.store.headPosition(),
    ])
    const gained = this.projections.flatMap((projection) => {
      const { name } = projection
      const failure = this.failures.get(projection) ?? this.failAhead(projection, ahead.get(name))
      const end = ahead.get(name)?.head ?? Number.POSITIVE_INFINITY
      return lanes.map((lane) => {
        const position = Math.min(end, checkpoints.get(name)?.positions[lane] ?? 0)
        return { projection, lane, position, failure }
      })
    })
    this.onLost(lanes)
    for (const lane of lanes) this.reached.set(lane, head)
    this.cursors = [...this.cursors, ...gained]
    onMoved(gained)
    this.wake()
  }

  readonly onLost = (lanes: readonly number[]): void => {
    for (const lane of lanes) this.reached.delete(lane)
    const lost = this.cursors.filter(({ lane }) => lanes.includes(lane))
    this.cursors = this.cursors.filter(({ lane }) => !lanes.includes(lane))
    if (lost.length > 0) this.deps.onMoved(lost)
  }

  readonly onBatch = (batch: LaneBatch): Promise<void> => {
    if (this.deps.stopping.aborted) return Promise.resolve()
    const pending = { ...Promise.withResolvers<void>(), batch }
    this.pending.push(pending)
    this.wake()
    return pending.promise
  }

  private failAhead(
    projection: Projection,
    ahead: AheadOfEvents | undefined,
  ): ProjectionFailure | null {
    if (ahead === undefined) return null
    const failure = failureOf(projection, new Error(describeAhead(ahead)), this.deps.core.log)
    this.failuresAhead.add(failure)
    return failure
  }

  ownsAllLanes(): boolean {
    return this.reached.size === LANE_COUNT
  }

  /**
   * Returns each projection's lowest position over the lanes that this process owns.
   */
  positions(): Map<Projection['name'], number> {
    const lowest = new Map<Projection['name'], number>()
    for (const { projection, position } of this.cursors) {
      const previous = lowest.get(projection.name) ?? Number.POSITIVE_INFINITY
      lowest.set(projection.name, Math.min(previous, position))
    }
    return lowest
  }

  health(): ProjectionHealth[] {
    return this.projections.map((projection) =>
      healthOf(
        projection,
        this.cursors.filter((cursor) => cursor.projection === projection),
        (cursor) => this.isBehind(cursor),
      ),
    )
  }

  isHealthy(): boolean {
    return this.cursors.every(({ failure }) => failure === null)
  }

  /** Restarts the stopped cursors whose read model was rebuilt. */
  async restart(): Promise<void> {
    // The record of read models that are ahead of the events is read first. If a read model is no
    // longer in the record, its checkpoints are those of the rebuilt tables.
    const ahead = await readAheadOfEvents(this.deps.core.pg)
    const checkpoints = await readCheckpoints(this.deps.core.pg)
    const moved = this.cursors.filter((cursor) => {
      const { failure, projection, lane, position } = cursor
      const checkpoint = checkpoints.get(projection.name)
      const at = checkpoint?.positions[lane] ?? 0
      if (failure === null || checkpoint?.definition !== definitionOf(projection)) return false
      if (ahead.has(projection.name)) return false
      const isRebuilt = this.failuresAhead.has(failure) || this.failures.get(projection) === failure
      if (at <= position && !isRebuilt) return false
      cursor.failure = null
      cursor.position = at
      return true
    })
    this.deps.onMoved(moved)
    this.wake()
  }

  /** Waits for the end of the current transaction. The caller must abort `stopping` first. */
  async stop(): Promise<void> {
    await this.running
  }

  private wake(): void {
    this.workArrived.resolve()
  }

  private isBehind({ failure, lane, position }: Cursor): boolean {
    return failure === null && position < (this.reached.get(lane) ?? 0)
  }

  private async run(): Promise<void> {
    const { stopping, core } = this.deps
    while (!stopping.aborted) {
      this.workArrived = Promise.withResolvers()
      const tasks = this.takePending()
      if (tasks.length > 0) await this.work(tasks)
      const behind = this.cursors.filter((cursor) => this.isBehind(cursor))
      if (behind.length > 0) await this.catchUp(behind)
      else if (this.pending.length === 0) await this.idle()
      if (performance.now() - this.checkedAt < STOPPED_CHECK_INTERVAL_MS || this.isHealthy())
        continue
      this.checkedAt = performance.now()
      await this.restart().catch((err: unknown) => {
        core.log.warn({ err }, 'stopped projections can not look for a rebuild just now')
      })
    }
    for (const { resolve } of this.pending.splice(0)) resolve()
  }

  private async idle(): Promise<void> {
    const { promise } = this.workArrived
    if (this.isHealthy()) return promise
    const timer = setTimeout(() => this.wake(), STOPPED_CHECK_INTERVAL_MS)
    await promise
    clearTimeout(timer)
  }

  /** Removes the next batch of each lane from the queue. */
  private takePending(): Pending[] {
    const lanes = new Set<number>()
    const ready = this.pending.filter(({ batch }) => {
      const isNext = !batch.lanes.some((lane) => lanes.has(lane))
      for (const lane of batch.lanes) lanes.add(lane)
      return isNext
    })
    this.pending = this.pending.filter((pending) => !ready.includes(pending))
    return ready
  }

  private async work(tasks: readonly Pending[]): Promise<void> {
    const startedAt = performance.now()
    const segment = segmentOf(tasks.map(({ batch }) => batch))
    const lost = await foldAndCommit(this.deps, this.cursors, segment)
    for (const [lane, { position }] of segment.spans) this.arrive(lane, position)
    if (segment.events.length < BATCH_MAX) await this.rest(startedAt)
    for (const { batch, resolve, reject } of tasks) {
      const isLost = batch.lanes.some((lane) => lost.has(lane) && this.reached.has(lane))
      if (isLost) reject(new LanesNotOwned(lost))
      else resolve()
    }
  }

  private arrive(lane: number, position: number): void {
    const previous = this.reached.get(lane)
    if (previous !== undefined) this.reached.set(lane, Math.max(previous, position))
  }

  /** Reads one page of events for all cursors that are behind, from the lowest position. */
  private async catchUp(behind: readonly Cursor[]): Promise<void> {
    const lanes = [...new Set(behind.map(({ lane }) => lane))]
    const after = Math.min(...behind.map(({ position }) => position))
    const end = Math.max(...lanes.map((lane) => this.reached.get(lane) ?? 0))
    try {
      const { matches, limit } = pageFor(lanes)
      const events = await this.readAhead(after, end, limit, lanes)
      // An empty page means that the store has no more events up to `end`.
      const position = events.at(-1)?.position ?? end
      const ownEvents = lanes.length === LANE_COUNT ? events : events.filter(matches)
      const batch = { lanes, events: ownEvents, after, position }
      const lost = await foldAndCommit(this.deps, behind, segmentOf([batch]))
      if (lost.size > 0) await delay(RETRY_MS)
    } catch (err) {
      this.nextPage = null
      this.deps.core.log.warn({ err }, 'the read models wait for the event store')
      await delay(RETRY_MS, undefined, { signal: this.deps.stopping }).catch(() => {})
    }
  }

  /**
   * Reads a page of events and starts to read the next page, so that the next page arrives while
   * this page is folded.
   */
  private async readAhead(
    after: number,
    end: number,
    limit: number,
    lanes: readonly number[],
  ): Promise<Recorded[]> {
    const read = (from: number): Promise<Recorded[]> =>
      this.deps.core.store.readAll(from, limit, lanes.length < LANE_COUNT ? lanes : undefined)
    const key = `${after} ${lanes}`
    const begun = this.nextPage?.key === key ? this.nextPage.events : read(after)
    this.nextPage = null
    const events = await begun
    const last = events.at(-1)?.position ?? end
    if (last < end) {
      const next = read(last)
      next.catch(() => {})
      this.nextPage = { key: `${last} ${lanes}`, events: next }
    }
    return events
  }

  /** Waits until the next transaction may start. A new reader shortens the wait. */
  private async rest(startedAt: number): Promise<void> {
    const { stopping, readers } = this.deps
    const leftMs = (): number => {
      const intervalMs = readers.hasReaders() ? INTERVAL_WITH_READERS_MS : INTERVAL_MS
      return stopping.aborted ? 0 : startedAt + intervalMs - performance.now()
    }
    for (let waitMs = leftMs(); waitMs >= 1; waitMs = leftMs()) {
      const resume = new AbortController()
      const removeListener = readers.onReader(() => resume.abort())
      const signal = AbortSignal.any([stopping, resume.signal])
      await delay(waitMs, undefined, { signal }).catch(() => {})
      removeListener()
    }
  }
}

/**
 * Returns the size of a page for the lanes, and a filter for their events. With fewer lanes, a page
 * is longer, so that each transaction has about the same number of events.
 */
function pageFor(lanes: readonly number[]) {
  const isMine = ALL_LANES.map((lane) => lanes.includes(lane))
  return {
    matches: ({ stream }: Recorded): boolean => isMine[laneOf(stream)] === true,
    limit: Math.ceil((BATCH_MAX * LANE_COUNT) / lanes.length),
  }
}
