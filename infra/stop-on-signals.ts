import type { Started } from './start.ts'
import { describeStartError } from './start-error.ts'

const DRAIN_MS = 120_000
const HURRIED_DRAIN_MS = 10_000
/** The time for ending calls and closing connections and pools after the grace period. */
const STOP_WITHIN_MS = 15_000
/** The time for an aborted start to close what it has opened. Then the process exits. */
const ABORT_WITHIN_MS = 10_000

/** The members of `process` that are used here. Tests pass a substitute. */
type ProcessHandle = {
  readonly on: (signal: NodeJS.Signals, listener: () => void) => unknown
  readonly exit: (code: number) => void
}

/**
 * Stops the product on signals. A signal during the start aborts the start. The first signal after
 * the start drains the product, and the second signal shortens the drain. The exit code is 0, or 1
 * when stopping fails or takes too long.
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

/** Exits with 1 unless the process has ended within `ms`. */
function forceExitAfter(target: ProcessHandle, ms: number): void {
  setTimeout(() => {
    process.stderr.write('stopping failed: it took too long\n')
    target.exit(1)
  }, ms)
}
