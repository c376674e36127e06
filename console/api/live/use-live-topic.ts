import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react'
import { filter, type Observable } from 'rxjs'
import { batchPerFrame } from './batch-per-frame.ts'
import { liveStream } from './browser-live-stream.ts'
import type { LiveData, LiveEvent, LiveState, ScreenTopic } from './live-event.ts'

const CAPACITY = 5_000

type LiveHandlers<T extends ScreenTopic> = {
  /**
   * Receives the data of the events since the last animation frame, oldest first, and the position
   * of the newest event.
   */
  readonly onEvents: (rows: readonly LiveData[T][], position: number) => void
  /**
   * Called if events may have been missed. The screen must then read its data again. If `position`
   * is not null, this data must include all events up to this position.
   */
  readonly onResync: (position: number | null) => void
}

/**
 * Subscribes to a topic while the component is mounted. Each handler is called at most once per
 * animation frame.
 */
export function useLiveTopic<T extends ScreenTopic>(topic: T, handlers: LiveHandlers<T>): void {
  const receive = useEffectEvent((batch: readonly LiveEvent<T>[]) => deliver(batch, handlers))
  useEffect(() => {
    const events$ = liveStream().events$.pipe(
      filter((event) => event.topic === topic),
    ) as Observable<LiveEvent<T>>
    const overflow = { kind: 'resync', topic, position: null } as LiveEvent<T>
    const running = batchPerFrame(events$, CAPACITY, overflow).subscribe(receive)
    return () => running.unsubscribe()
  }, [topic])
}

/**
 * Calls the handlers for the events of one frame. Events before the last `resync` are dropped,
 * because the screen reads all its data again.
 */
function deliver<T extends ScreenTopic>(
  batch: readonly LiveEvent<T>[],
  { onEvents, onResync }: LiveHandlers<T>,
): void {
  const from = batch.findLastIndex((event) => event.kind === 'resync')
  const resync = batch[from]
  if (resync !== undefined) onResync(resync.position)
  const events = batch.slice(from + 1).flatMap((event) => (event.kind === 'event' ? [event] : []))
  const newest = events.at(-1)
  if (newest === undefined) return
  onEvents(
    events.map((event) => event.data),
    newest.position,
  )
}

/**
 * Returns two functions. `current` returns the position of the newest live event that a screen has
 * used, and `raiseTo` raises this position. The response to a later request of the screen must
 * include all events up to this position.
 */
export function useMinPosition() {
  const [minPosition] = useState(() => {
    let newest = 0
    return {
      current: () => newest,
      raiseTo: (position: number | null): void => {
        newest = Math.max(newest, position ?? 0)
      },
    }
  })
  return minPosition
}

let lastState: LiveState = { kind: 'connecting' }
const watchState = (changed: () => void): (() => void) => {
  const running = liveStream().state$.subscribe((state) => {
    lastState = state
    changed()
  })
  return () => running.unsubscribe()
}

export const useLiveState = (): LiveState => useSyncExternalStore(watchState, () => lastState)
