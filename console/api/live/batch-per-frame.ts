import { Observable } from 'rxjs'

export type FrameClock = (draw: () => void) => () => void

const browserFrames: FrameClock = (draw) => {
  const handle = requestAnimationFrame(draw)
  return () => cancelAnimationFrame(handle)
}

/**
 * Collects items and emits them once per animation frame, so that many events cause one rendering.
 * If there are more than `capacity` items, they are dropped and `overflow` is emitted.
 */
export function batchPerFrame<T>(
  source: Observable<T>,
  capacity: number,
  overflow: T,
  frames: FrameClock = browserFrames,
): Observable<readonly T[]> {
  return new Observable((listener) => {
    let gathered: T[] = []
    let isOver = false
    let cancel: (() => void) | null = null
    const draw = (): void => {
      cancel = null
      const batch = isOver ? [overflow] : gathered
      gathered = []
      isOver = false
      listener.next(batch)
    }
    const running = source.subscribe((item) => {
      if (!isOver) gathered.push(item)
      if (gathered.length > capacity) {
        gathered = []
        isOver = true
      }
      cancel ??= frames(draw)
    })
    return () => {
      running.unsubscribe()
      cancel?.()
    }
  })
}
