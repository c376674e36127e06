/** Tells whoever waits that there may be something new. */
export type WakeUp = {
  readonly wake: () => void
  /**
   * Resolves at the next `wake` after `seen` was read, after `timeoutMs`, or at `close`. Taking
   * the counter before looking, and waiting on it after, misses nothing in between.
   */
  readonly waitBeyond: (seen: number, timeoutMs: number) => Promise<void>
  readonly count: () => number
  readonly isClosed: () => boolean
  readonly close: () => void
}

export function createWakeUp(): WakeUp {
  const waiting = new Set<() => void>()
  let count = 0
  let isClosed = false
  const wake = (): void => {
    count += 1
    for (const resume of [...waiting]) resume()
  }
  return {
    wake,
    count: () => count,
    isClosed: () => isClosed,
    waitBeyond: (seen, timeoutMs) =>
      new Promise((resolve) => {
        if (count > seen || isClosed) return resolve()
        const resume = (): void => {
          clearTimeout(timer)
          waiting.delete(resume)
          resolve()
        }
        const timer = setTimeout(resume, timeoutMs)
        timer.unref()
        waiting.add(resume)
      }),
    close: () => {
      isClosed = true
      wake()
    },
  }
}
