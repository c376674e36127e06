import { sql } from 'slonik'
import Type from 'typebox'
import type { Core } from '#infra/core-dependencies.ts'
import { rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { PROJECTION_NAMES, type ProjectionName } from '../projection-names.ts'
import { createReaderNotifier } from './notify-other-processes-of-readers.ts'
import { createPoller } from './position-poller.ts'
import { advanceSignal, type Positions } from './read-model-advance-signal.ts'

export type ReadModelName = ProjectionName

/**
 * Reports up to which event position each read model is current. If other processes update read
 * models, their positions are polled.
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
   * Calls the listener after each commit that advances read models. Returns a function that removes
   * the listener.
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
 * Waits until the condition is true, the time is over or `stopped` is aborted. Resolves to true
 * if the condition is then true.
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

/** Returns the position of each read model, which is the lowest position of its lanes. */
export async function readPositions(core: Pick<Core, 'db'>): Promise<Positions> {
  const rows = await core.db.any(sql.type(checkpointRow)`
    select name, min(position) as position from projections.checkpoint group by name
  `)
  return new Map(rows.map(({ name, position }) => [name, position]))
}
