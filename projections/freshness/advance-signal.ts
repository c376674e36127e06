import type { EventStore } from '#infra/event-store/port.ts'
import type { ProjectionName } from '../names.ts'

export type Positions = ReadonlyMap<ProjectionName, number>

export type AdvanceSignal = {
  /** Called by a runner that has all lanes, after each commit and at its start. */
  readonly publish: (positions: Positions) => void
  /** True while a runner of this process has all lanes and tells every advance. */
  readonly isComplete: () => boolean
  /**
   * Also called by a runner with some of the lanes when these moved: those who wait have to read
   * again.
   */
  readonly setComplete: (isComplete: boolean) => void
  /**
   * Reports the present positions at once, then every advance. Returns a function that stops it.
   */
  readonly listen: (
    onPositions: (positions: Positions) => void,
    onIncomplete: () => void,
  ) => () => void
}

const signals = new WeakMap<EventStore, AdvanceSignal>()

/**
 * The signal between the runner and the readers of one process. Both find it by the store that they
 * share, so neither has to be passed to the other.
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
