import type { EventStore } from '#infra/event-store/port.ts'
import type { ProjectionName } from '../names.ts'

export type Positions = ReadonlyMap<ProjectionName, number>

export type AdvanceSignal = {
  /** Said by the runner after each commit, and at its start. */
  readonly tell: (positions: Positions) => void
  /** True while a runner of this process tells every advance. */
  readonly isFed: () => boolean
  readonly setFed: (isFed: boolean) => void
  /** Tells what is known at once, then every advance. Answers how to stop. */
  readonly listen: (listener: (positions: Positions) => void) => () => void
}

const signals = new WeakMap<EventStore, AdvanceSignal>()

/**
 * The wake-up between the runner and the readers of one process. Found by the store they share, so
 * that neither has to be started with the other in hand.
 */
export function advanceSignal(store: EventStore): AdvanceSignal {
  const existing = signals.get(store)
  if (existing !== undefined) return existing
  const listeners = new Set<(positions: Positions) => void>()
  let isFed = false
  let latest: Positions = new Map()
  const signal: AdvanceSignal = {
    tell: (positions) => {
      latest = new Map([...latest, ...positions])
      for (const listener of listeners) listener(positions)
    },
    isFed: () => isFed,
    setFed: (fed) => {
      isFed = fed
    },
    listen: (listener) => {
      listeners.add(listener)
      if (latest.size > 0) listener(latest)
      return () => listeners.delete(listener)
    },
  }
  signals.set(store, signal)
  return signal
}
