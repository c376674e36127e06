import { onTestFinished } from 'vitest'

/** The factor under CI and in `npm test`, where other tests run on the same machine. */
const SLACK = 4

const isBusy = [process.env.CI, process.env.RUNS_ALL_TESTS].some(Boolean)

/**
 * The limit is longer on a busy machine, but still detects a slowdown by an order of magnitude.
 * `npm run bench` gives exact figures.
 */
export const budget = (limit: number): number => limit * (isBusy ? SLACK : 1)

/** The CPU time (ms) of this thread, which the other work of a busy machine does not lengthen. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** The CPU time (ms) of this process with all its threads. */
export function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const TICK_MS = 10

/**
 * Starts to measure the time of an operation of a test that mostly waits. The returned function
 * ends it and returns the time (ms) without the moments in which a busy machine did not run this
 * process: the timers that fired, each of them for one interval, and the CPU time of this thread.
 */
export function startStopwatch(): () => number {
  let ticks = 0
  const cpuMs = threadCpuMs()
  const timer = setInterval(() => {
    ticks += 1
  }, TICK_MS)
  // A test that fails before it ends the measurement leaves no timer to the other tests.
  onTestFinished(() => clearInterval(timer))
  return () => {
    clearInterval(timer)
    return ticks * TICK_MS + threadCpuMs() - cpuMs
  }
}

/** A busy machine gets this long for one run of `shortestMs` that is as fast as a quiet one. */
const PATIENCE_MS = 20_000

/**
 * Returns the shortest time (ms) of the runs of `work`, because other work on the machine only
 * lengthens a run. Stops as soon as a run is shorter than `limitMs`; otherwise runs at least
 * `runs` times, and again until the patience ends.
 */
export async function shortestMs(
  work: () => Promise<unknown>,
  limitMs: number,
  runs = 10,
): Promise<number> {
  const givenUpAt = performance.now() + PATIENCE_MS
  let shortest = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs || performance.now() < givenUpAt; run += 1) {
    const startedAt = performance.now()
    await work()
    shortest = Math.min(shortest, performance.now() - startedAt)
    if (shortest < limitMs) break
  }
  return shortest
}
