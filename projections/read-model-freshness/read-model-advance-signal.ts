import type { EventStore } from '#infra/event-store/port.ts'
import type { ProjectionName } from '../projection-names.ts'

export type Positions = ReadonlyMap<ProjectionName, number>

export type AdvanceSignal = {
  /**
   * Publishes positions to the listeners. A runner that owns all lanes publishes at its start and
   * after each commit.
   */
  readonly publish: (positions: Positions) => void
  /**
   * True while a runner in this process owns all lanes. If false, other processes may advance lanes
   * without this signal.
   */
  readonly isComplete: () => boolean
  /**
   * Sets whether the runner owns all lanes. A runner that owns only some lanes sets false after
   * each commit, so that waiting readers poll again.
   */
  readonly setComplete: (isComplete: boolean) => void
  /**
   * Counts the readers in this process that wait for a position or follow the positions. While no
   * process has a reader, read models may lag for longer.
   */
  readonly addReader: () => void
  readonly removeReader: () => void
  /** Notes that another process has a reader, for `OTHER_READER_MS`. */
  readonly noteOtherReader: () => void
  readonly hasReaders: () => boolean
  /**
   * Calls `listener` each time a reader is added. Returns a function that removes the listener.
   */
  readonly onReader: (listener: () => void) => () => void
  /**
   * Calls `onPositions` now and each time a position advances. Returns a function that removes the
   * listener.
   */
  readonly listen: (
    onPositions: (positions: Positions) => void,
    onIncomplete: () => void,
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
    onIncomplete: () => void
  }>()
  let isComplete = false
  let latest: Positions = new Map()
  const signal: AdvanceSignal = {
    ...createReaders(),
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
