import type { EventStore } from '#infra/event-store/port.ts'
import type { ProjectionName } from '../projection-names.ts'

export type Positions = ReadonlyMap<ProjectionName, number>

export type AdvanceSignal = {
  /**
   * Reports the new positions of read models. A runner that owns all lanes (partitions of the
   * streams) calls `publish` when it starts and after each commit.
   */
  readonly publish: (positions: Positions) => void
  /**
   * True while a runner of this process owns all lanes (partitions of the streams) and therefore
   * reports every advance of the read models.
   */
  readonly isComplete: () => boolean
  /**
   * Sets whether the runner owns all lanes (partitions of the streams). A runner with only some
   * lanes also calls `setComplete` after each commit, so that waiting readers poll the positions
   * again.
   */
  readonly setComplete: (isComplete: boolean) => void
  /**
   * Calls `onPositions` immediately with the current positions, and again each time they advance.
   * Returns a function that removes the listener.
   */
  readonly listen: (
    onPositions: (positions: Positions) => void,
    onIncomplete: () => void,
  ) => () => void
}

const signals = new WeakMap<EventStore, AdvanceSignal>()

/**
 * Returns the signal through which the runner notifies readers in the same process. The runner and
 * the readers get the same signal, because they pass the same event store.
 */
export function advanceSignal(store: EventStore): AdvanceSignal {
  const existing = signals.get(store)
  if (existing !== undefined) return existing
  const listeners = new Set<{
    onPositions: (positions: Positions) => void
    onIncomplete: () => void
  }>()
  let isComplete = false
  let latest: Positions = new Map()
  const signal: AdvanceSignal = {
    publish: (positions) => {
      latest = new Map([...latest, ...positions])
      for (const { onPositions } of [...listeners]) onPositions(positions)
    },
    isComplete: () => isComplete,
    setComplete: (complete) => {
      isComplete = complete
      if (!complete) for (const { onIncomplete } of [...listeners]) onIncomplete()
    },
    listen: (onPositions, onIncomplete) => {
      const listener = { onPositions, onIncomplete }
      listeners.add(listener)
      if (latest.size > 0) onPositions(latest)
      return () => listeners.delete(listener)
    },
  }
  signals.set(store, signal)
  return signal
}
