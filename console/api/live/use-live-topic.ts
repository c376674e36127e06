import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { filter, type Observable } from 'rxjs'
import { liveStream } from './browser-live.ts'
import type { LiveData, LiveEvent, LiveState, ScreenTopic } from './live-event.ts'
import { perFrame } from './per-frame.ts'

const CAPACITY = 5_000

export type LiveHandlers<T extends ScreenTopic> = {
  /** The events since the last frame, oldest first, with the newest position. */
  readonly onEvents: (rows: readonly LiveData[T][], position: number) => void
  /** Events may be missing: read again, as of `position` at least when there is one. */
  readonly onResync: (position: number | null) => void
}

/** Listens to one topic while the component is mounted; at most one call per frame and kind. */
export function useLiveTopic<T extends ScreenTopic>(topic: T, handlers: LiveHandlers<T>): void {
  const receive = useEffectEvent((batch: readonly LiveEvent<T>[]) => deliver(batch, handlers))
  useEffect(() => {
    const events$ = liveStream().events$.pipe(
      filter((event) => event.topic === topic),
    ) as Observable<LiveEvent<T>>
    const overflow = { kind: 'resync', topic, position: null } as LiveEvent<T>
    const running = perFrame(events$, CAPACITY, overflow).subscribe(receive)
    return () => running.unsubscribe()
  }, [topic])
}

/** A resync makes earlier events of the same frame obsolete, but not later ones. */
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

let lastState: LiveState = { kind: 'connecting' }
const watchState = (changed: () => void): (() => void) => {
  const running = liveStream().state$.subscribe((state) => {
    lastState = state
    changed()
  })
  return () => running.unsubscribe()
}

/** The present state of the live connection. */
export const useLiveState = (): LiveState => useSyncExternalStore(watchState, () => lastState)
