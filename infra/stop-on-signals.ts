import type { Started } from './start.ts'
import { describeStartError } from './start-error.ts'

const DRAIN_MS = 120_000
const HURRIED_DRAIN_MS = 10_000
/** After the grace, calls are ended and connections and pools closed within this time. */
const STOP_WITHIN_MS = 15_000
/** An aborted start closes what it has opened within this time; the rest ends with the process. */
const ABORT_WITHIN_MS = 10_000

/** The subset of `process` that is used here, so that tests can substitute it. */
type ProcessHandle = {
  readonly on: (signal: NodeJS.Signals, listener: () => void) => unknown
  readonly exit: (code: number) => void
}

/**
 * Stops the product on signals. During the start the first signal aborts the start; afterwards it
 * drains, and a second one shortens the drain. The process exits with 0, or with 1 when stopping
 * fails or takes too long.
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
  // NOTE: a closing terminal may send SIGHUP twice, from product shell and from the kernel.
  target.on('SIGHUP', () => isStopping || void stop(DRAIN_MS))
}

/** Ends the process with 1 when stopping hangs. */
function forceExitAfter(target: ProcessHandle, ms: number): void {
  setTimeout(() => {
    process.stderr.write('stopping failed: it took too long\n')
    target.exit(1)
  }, ms)
}
