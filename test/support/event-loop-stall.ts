import { setImmediate as nextTurn } from 'node:timers/promises'

/** Returns the longest time (ms) for which `work` blocked the event loop. */
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
