import { Observable } from 'rxjs'

/** Requests the next frame; returns a function that cancels the request. */
export type FrameClock = (draw: () => void) => () => void

export const browserFrames: FrameClock = (draw) => {
  const handle = requestAnimationFrame(draw)
  return () => cancelAnimationFrame(handle)
}

/**
 * Collects what arrives between two frames into one list, so that a burst costs one render. When
 * more than `capacity` items collect (a hidden tab draws no frames), the list is dropped and
 * `overflow` returns a replacement: memory stays bounded and nothing is lost silently.
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
