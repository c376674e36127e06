import { Observable } from 'rxjs'

type FrameClock = (draw: () => void) => () => void

const browserFrames: FrameClock = (draw) => {
  const handle = requestAnimationFrame(draw)
  return () => cancelAnimationFrame(handle)
}

/**
 * Collects the items of `source` and emits them once per animation frame, so that many events cause
 * only one rendering. If more than `capacity` items arrive within a frame, emits only `overflow`.
 */
export function batchPerFrame<T>(
  source: Observable<T>,
  capacity: number,
  overflow: T,
  frames: FrameClock = browserFrames,
): Observable<readonly T[]> {
  return new Observable((listener) => {
    let pendingItems: T[] = []
    let hasOverflowed = false
    let cancel: (() => void) | null = null
    const emitBatch = (): void => {
      cancel = null
      const batch = hasOverflowed ? [overflow] : pendingItems
      pendingItems = []
      hasOverflowed = false
      listener.next(batch)
    }
    const running = source.subscribe((item) => {
      if (!hasOverflowed) pendingItems.push(item)
      if (pendingItems.length > capacity) {
        pendingItems = []
        hasOverflowed = true
      }
      cancel ??= frames(emitBatch)
    })
    return () => {
      running.unsubscribe()
      cancel?.()
    }
  })
}
