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
