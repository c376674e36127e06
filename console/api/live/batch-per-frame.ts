import { Observable } from 'rxjs'

/** Requests an animation frame and returns a function that cancels the request. */
export type FrameClock = (draw: () => void) => () => void

export const browserFrames: FrameClock = (draw) => {
  const handle = requestAnimationFrame(draw)
  return () => cancelAnimationFrame(handle)
}

/**
 * Collects the items of an animation frame into one list, so that a burst causes one render. A
 * hidden tab has no frames. If the list exceeds `capacity` items, `overflow` replaces the list.
 */
export function perFrame<T>(
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
