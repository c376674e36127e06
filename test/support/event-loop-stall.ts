import { setImmediate as nextTurn } from 'node:timers/promises'
import { threadCpuMs } from './time-limit.ts'

/** Returns the longest CPU time (ms) of this thread for which `work` blocked the event loop. */
export async function loopStallMs(work: () => Promise<unknown>): Promise<number> {
  let stallMs = 0
  let isOver = false
  const watch = async () => {
    for (let last = threadCpuMs(); !isOver; ) {
      await nextTurn()
      const at = threadCpuMs()
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
