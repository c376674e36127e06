import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Runs `work` and returns the longest time in milliseconds for which the event loop was blocked
 * meanwhile.
 */
export async function loopStallMs(work: () => Promise<unknown>): Promise<number> {
  let stallMs = 0
  let isOver = false
  const watch = async () => {
    for (let last = performance.now(); !isOver; ) {
      await nextTurn()
      const at = performance.now()
      stallMs = Math.max(stallMs, at - last)
      last = at
    }
  }
  const watching = watch()
  await work()
  isOver = true
  await watching
  return stallMs
}
