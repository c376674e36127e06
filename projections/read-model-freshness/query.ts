import { sql } from 'slonik'
import Type from 'typebox'
import type { Core } from '#infra/core-dependencies.ts'
import { rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { PROJECTION_NAMES, type ProjectionName } from '../projection-names.ts'
import { createReaderNotifier } from './notify-other-processes-of-readers.ts'
import { advanceSignal, type Positions } from './read-model-advance-signal.ts'

export type ReadModelName = ProjectionName

/**
 * Reports up to which event position each read model is current. If other processes update read
 * models, this process polls the positions of these read models.
 */
export type Freshness = {
  /**
   * Resolves to true when all named read models include the event at `position`, or to false after
   * `timeoutMs`.
   */
  readonly waitFor: (
    names: readonly ProjectionName[],
    position: number,
    timeoutMs: number,
  ) => Promise<boolean>
  /** Returns the last known position of a read model, or 0. */
  readonly positionOf: (name: ProjectionName) => number
  /**
   * Calls the listener whenever this process learns that read models have advanced. Returns a
   * function that removes the listener.
   */
  readonly onAdvance: (listener: (positions: Positions) => void) => () => void
  /** Removes all listeners and ends all pending calls of `waitFor` with false. */
  readonly stop: () => Promise<void>
}

export function createFreshness(core: Core): Freshness {
  const lastPositions = new Map<ProjectionName, number>()
  const listeners = new Set<(positions: Positions) => void>()
  const stopped = new AbortController()
  const signal = advanceSignal(core.store)

  const learn = (positions: Positions): void => {
    const moved = [...positions].filter(
      ([name, position]) => position > (lastPositions.get(name) ?? -1),
    )
    if (moved.length === 0) return
    for (const [name, position] of moved) lastPositions.set(name, position)
    for (const listener of [...listeners]) listener(new Map(moved))
  }
  const poller = createPoller(core, {
    isNeeded: () => !signal.ownsAllLanes() && listeners.size > 0,
    notifyWriters: createReaderNotifier(core.pg),
    poll: async () => {
      const positions = await readPositions(core)
      learn(positions)
      return Math.min(...positions.values())
    },
  })
  const unlisten = signal.listen(learn, poller.pollSoon)
  const onAdvance: Freshness['onAdvance'] = (listener) => {
    listeners.add(listener)
    signal.addReader()
    poller.pollSoon()
    return () => {
      if (listeners.delete(listener)) signal.removeReader()
    }
  }
  const positionOf = (name: ProjectionName): number => lastPositions.get(name) ?? 0
  return {
    positionOf,
    onAdvance,
    waitFor: (names, position, timeoutMs) => {
      const isThere = (): boolean => names.every((name) => positionOf(name) >= position)
      return waitUntil(isThere, onAdvance, timeoutMs, stopped.signal)
    },
    stop: async () => {
      stopped.abort()
      unlisten()
      for (const _listener of listeners) signal.removeReader()
      listeners.clear()
      await poller.stop()
    },
  }
}

/**
 * Waits until the condition is true, the timeout is reached or `stopped` is aborted. Resolves to
 * true if the condition is true at the end of the wait.
 */
function waitUntil(
  isThere: () => boolean,
  onAdvance: Freshness['onAdvance'],
  timeoutMs: number,
  stopped: AbortSignal,
): Promise<boolean> {
  if (isThere() || stopped.aborted) return Promise.resolve(isThere())
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      stopped.removeEventListener('abort', finish)
      stopListening()
      resolve(isThere())
    }
    const timer = setTimeout(finish, timeoutMs)
    stopped.addEventListener('abort', finish)
    const stopListening = onAdvance(() => {
      if (isThere()) finish()
    })
  })
}

const checkpointRow = rowType({ name: Type.Enum(PROJECTION_NAMES), position: wireInteger })

/** Returns the position of each read model: the lowest position of the read model's lanes. */
export async function readPositions(core: Pick<Core, 'db'>): Promise<Positions> {
  const rows = await core.db.any(sql.type(checkpointRow)`
    select name, min(position) as position from projections.checkpoint group by name
  `)
  return new Map(rows.map(({ name, position }) => [name, position]))
}

const POLL_MS = 40
const IDLE_POLL_MS = 200
/**
 * The time in milliseconds after each commit or call of `pollSoon` during which lagging positions
 * are polled every `POLL_MS`. Afterwards, they are polled every `IDLE_POLL_MS`.
 */
const FREQUENT_POLLS_MS = 2_000

type Poller = {
  /**
   * Requests an early poll. Called when a reader is added, when the event bus reports a commit, and
   * when the runner of this process reports that it does not own all lanes.
   */
  readonly pollSoon: () => void
  readonly stop: () => Promise<void>
}

type PollerDeps = {
  /** Reads the positions of all read models and returns the lowest one. */
  readonly poll: () => Promise<number>
  /** Polling pauses while this function returns false. */
  readonly isNeeded: () => boolean
  /** Reports a waiting reader of this process to the processes that write read models. */
  readonly notifyWriters: () => void
}

/**
 * Polls the positions of the read models. Polls more often while the read models lag behind the
 * last commit that the event bus has reported.
 */
function createPoller(
  { bus, log }: Pick<Core, 'bus' | 'log'>,
  { poll, isNeeded, notifyWriters }: PollerDeps,
): Poller {
  let timer: NodeJS.Timeout | null = null
  let dueAt = Number.POSITIVE_INFINITY
  let isPolling = false
  let isStopped = false
  let watch: ReturnType<Core['bus']['watch']> | null = null
  let latestPosition = 0
  let awaitedUntil = 0

  const plan = (delayMs: number): void => {
    const at = performance.now() + delayMs
    // An earlier poll stays scheduled, because a series of commits could otherwise postpone polling
    // forever.
    if (isStopped || at >= dueAt) return
    if (timer !== null) clearTimeout(timer)
    dueAt = at
    timer = setTimeout(run, delayMs).unref()
  }
  const run = async (): Promise<void> => {
    timer = null
    dueAt = Number.POSITIVE_INFINITY
    if (isStopped) return
    if (!isNeeded()) {
      void watch?.stop()
      watch = null
      return
    }
    watch ??= bus.watch(onCommitted)
    isPolling = true
    const lowest = await poll().catch((err: unknown) => {
      log.warn({ err }, 'the read models can not be asked how far they are')
      return 0
    })
    isPolling = false
    const isAwaiting = lowest < latestPosition && performance.now() < awaitedUntil
    plan(isAwaiting ? POLL_MS : IDLE_POLL_MS)
  }
  const pollSoon = (): void => {
    awaitedUntil = performance.now() + FREQUENT_POLLS_MS
    if (!isNeeded()) return
    notifyWriters()
    if (!isPolling) plan(POLL_MS)
  }
  const onCommitted = (position: number): void => {
    latestPosition = Math.max(latestPosition, position)
    pollSoon()
  }
  return {
    pollSoon,
    stop: async () => {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      await watch?.stop()
    },
  }
}
