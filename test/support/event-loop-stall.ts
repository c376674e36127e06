import { setImmediate as nextTurn } from 'node:timers/promises'

/** The CPU time (ms) of this thread, which other processes do not lengthen. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Returns the longest time (ms) for which `work` blocked the event loop, by the clock `nowMs`. */
export async function loopStallMs(
  work: () => Promise<unknown>,
  nowMs = () => performance.now(),
): Promise<number> {
  let stallMs = 0
  let isOver = false
  const watch = async () => {
    for (let last = nowMs(); !isOver; ) {
      await nextTurn()
      const at = nowMs()
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
