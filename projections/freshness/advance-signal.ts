import type { EventStore } from '#infra/event-store/port.ts'
import type { ProjectionName } from '../names.ts'

export type Positions = ReadonlyMap<ProjectionName, number>

export type AdvanceSignal = {
  /** Said by a runner that has all lanes, after each commit, and at a start. */
  readonly tell: (positions: Positions) => void
  /** True while a runner of this process has all lanes and tells every advance. */
  readonly isFed: () => boolean
  /** Said too by a runner with some lanes when these moved: whoever waits has to look again. */
  readonly setFed: (isFed: boolean) => void
  /** Tells what is known at once, then every advance. Answers how to stop. */
  readonly listen: (onPositions: (positions: Positions) => void, onUnfed: () => void) => () => void
}

const signals = new WeakMap<EventStore, AdvanceSignal>()

/**
 * The wake-up between the runner and the readers of one process. Found by the store they share, so
 * that neither has to be started with the other in hand.
 */
export function advanceSignal(store: EventStore): AdvanceSignal {
  const existing = signals.get(store)
  if (existing !== undefined) return existing
  const listeners = new Set<{ onPositions: (positions: Positions) => void; onUnfed: () => void }>()
  let isFed = false
  let latest: Positions = new Map()
  const signal: AdvanceSignal = {
    tell: (positions) => {
      latest = new Map([...latest, ...positions])
      for (const { onPositions } of [...listeners]) onPositions(positions)
    },
    isFed: () => isFed,
    setFed: (fed) => {
      isFed = fed
      if (!fed) for (const { onUnfed } of [...listeners]) onUnfed()
    },
    listen: (onPositions, onUnfed) => {
      const listener = { onPositions, onUnfed }
      listeners.add(listener)
      if (latest.size > 0) onPositions(latest)
      return () => listeners.delete(listener)
    },
  }
  signals.set(store, signal)
  return signal
}
