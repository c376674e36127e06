import type { Started } from './start.ts'
import { describeStartError } from './start-error.ts'

const DRAIN_MS = 120_000
const HURRIED_DRAIN_MS = 10_000
/**
 * The maximum time in milliseconds, after the grace period, for ending calls and closing
 * connections and pools.
 */
const STOP_WITHIN_MS = 15_000
/**
 * The maximum time in milliseconds in which an aborted start closes what it has opened. After this
 * time, the process exits.
 */
const ABORT_WITHIN_MS = 10_000

/** The members of `process` that are used here. Tests pass a substitute. */
type ProcessHandle = {
  readonly on: (signal: NodeJS.Signals, listener: () => void) => unknown
  readonly exit: (code: number) => void
}

/**
 * Stops the product on signals. A signal during the start aborts the start. The first signal after
 * the start drains the product, and the second signal shortens the drain. The exit code is 0. It is
 * 1 if stopping fails or takes too long.
 */
export function stopOnSignals(
  starting: Promise<Started>,
  aborting: AbortController,
  target: ProcessHandle = process,
): void {
  let running: Started | null = null
  const started = starting.then(
    (product) => {
      running = product
    },
    () => {},
  )
  let isStopping = false
  const stop = async (graceMs: number) => {
    if (isStopping) {
      forceExitAfter(target, HURRIED_DRAIN_MS + STOP_WITHIN_MS)
      return running?.hurry(HURRIED_DRAIN_MS)
    }
    isStopping = true
    forceExitAfter(target, graceMs + STOP_WITHIN_MS)
    try {
      if (running === null) {
        setTimeout(() => target.exit(0), ABORT_WITHIN_MS)
        aborting.abort()
        await started
      }
      await running?.stop(graceMs)
      target.exit(0)
    } catch (error) {
      process.stderr.write(`stopping failed: ${describeStartError(error)}\n`)
      target.exit(1)
    }
  }
  target.on('SIGTERM', () => void stop(DRAIN_MS))
  target.on('SIGINT', () => void stop(HURRIED_DRAIN_MS))
  // NOTE: SIGHUP may arrive twice when a terminal closes, from the shell and from the kernel.
  target.on('SIGHUP', () => isStopping || void stop(DRAIN_MS))
}

/** Exits with 1 if the process has not ended within `ms` milliseconds. */
function forceExitAfter(target: ProcessHandle, ms: number): void {
  setTimeout(() => {
    process.stderr.write('stopping failed: it took too long\n')
    target.exit(1)
  }, ms)
}
