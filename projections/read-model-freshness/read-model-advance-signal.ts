import type { EventStore } from '#infra/event-store/port.ts'
import type { ProjectionName } from '../projection-names.ts'

export type Positions = ReadonlyMap<ProjectionName, number>

export type AdvanceSignal = {
  /**
   * Publishes positions to the listeners. Each runner publishes at its start. A runner that owns
   * all lanes also publishes after each commit.
   */
  readonly publish: (positions: Positions) => void
  /**
   * Reports whether a runner in this process owns all lanes (stream partitions). If not, other
   * processes may advance lanes without this signal.
   */
  readonly ownsAllLanes: () => boolean
  /**
   * Sets whether the runner in this process owns all lanes. A runner that owns only some lanes sets
   * false after each commit, so that waiting readers poll again.
   */
  readonly setOwnsAllLanes: (ownsAllLanes: boolean) => void
  /**
   * Adds a reader in this process. A reader waits for a position or follows the positions. While no
   * process has a reader, read models may lag for longer.
   */
  readonly addReader: () => void
  readonly removeReader: () => void
  /**
   * Records that another process has a reader. After this call, `hasReaders` returns true for
   * `OTHER_READER_MS`.
   */
  readonly noteOtherReader: () => void
  readonly hasReaders: () => boolean
  /**
   * Calls `listener` each time a reader is added in this process or reported by another process.
   * Returns a function that removes the listener.
   */
  readonly onReader: (listener: () => void) => () => void
  /**
   * Calls `onPositions` each time positions are published, and at once if positions were published
   * before. Calls `onPartialOwnership` each time the runner reports that it does not own all lanes.
   * Returns a function that removes the listener.
   */
  readonly listen: (
    onPositions: (positions: Positions) => void,
    onPartialOwnership: () => void,
  ) => () => void
}

const signals = new WeakMap<EventStore, AdvanceSignal>()

/**
 * Returns the signal with which the runner notifies readers in the same process. Each event store
 * has one signal.
 */
export function advanceSignal(store: EventStore): AdvanceSignal {
  const existing = signals.get(store)
  if (existing !== undefined) return existing
  const listeners = new Set<{
    onPositions: (positions: Positions) => void
    onPartialOwnership: () => void
  }>()
  let ownsAllLanes = false
  let latest: Positions = new Map()
  const signal: AdvanceSignal = {
    ...createReaders(),
    publish: (positions) => {
      latest = new Map([...latest, ...positions])
      for (const { onPositions } of [...listeners]) onPositions(positions)
    },
    ownsAllLanes: () => ownsAllLanes,
    setOwnsAllLanes: (owned) => {
      ownsAllLanes = owned
      if (!owned) for (const { onPartialOwnership } of [...listeners]) onPartialOwnership()
    },
    listen: (onPositions, onPartialOwnership) => {
      const listener = { onPositions, onPartialOwnership }
      listeners.add(listener)
      if (latest.size > 0) onPositions(latest)
      return () => listeners.delete(listener)
    },
  }
  signals.set(store, signal)
  return signal
}

/** The time in milliseconds for which a report of another process counts as a reader. */
const OTHER_READER_MS = 3_000

type Readers = Pick<
  AdvanceSignal,
  'addReader' | 'removeReader' | 'noteOtherReader' | 'hasReaders' | 'onReader'
>

function createReaders(): Readers {
  const listeners = new Set<() => void>()
  let count = 0
  let otherUntil = 0
  const notify = (): void => {
    for (const onReader of [...listeners]) onReader()
  }
  return {
    hasReaders: () => count > 0 || performance.now() < otherUntil,
    addReader: () => {
      count += 1
      notify()
    },
    noteOtherReader: () => {
      otherUntil = performance.now() + OTHER_READER_MS
      notify()
    },
    removeReader: () => {
      count -= 1
    },
    onReader: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
