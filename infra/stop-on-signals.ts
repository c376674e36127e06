import { explainStart } from './explain-start.ts'
import type { Started } from './start.ts'

const DRAIN_MS = 120_000
const HURRIED_DRAIN_MS = 10_000
/** After the grace, for calls to be ended, connections and pools to be closed. */
const STOP_WITHIN_MS = 15_000
/** For what a start has opened to be closed; what is left then ends with the process. */
const ABORT_WITHIN_MS = 10_000

/** What is needed of `process`; a test has another. */
type OwnProcess = {
  readonly on: (signal: NodeJS.Signals, listener: () => void) => unknown
  readonly exit: (code: number) => void
}

/**
 * During the start the first signal aborts it; afterwards it drains, and a second one hurries. The
 * process ends with 0, or with 1 when it could not be stopped, or not in time.
 */
export function stopOnSignals(
  starting: Promise<Started>,
  aborting: AbortController,
  own: OwnProcess = process,
): void {
  let running: Started | null = null
  const started = starting.then(
    (its) => {
      running = its
    },
    () => {},
  )
  let isStopping = false
  const stop = async (graceMs: number) => {
    if (isStopping) {
      endWithin(own, HURRIED_DRAIN_MS + STOP_WITHIN_MS)
      return running?.hurry(HURRIED_DRAIN_MS)
    }
    isStopping = true
    endWithin(own, graceMs + STOP_WITHIN_MS)
    try {
      if (running === null) {
        setTimeout(() => own.exit(0), ABORT_WITHIN_MS)
        aborting.abort()
        await started
      }
      await running?.stop(graceMs)
      own.exit(0)
    } catch (error) {
      process.stderr.write(`stopping failed: ${explainStart(error)}\n`)
      own.exit(1)
    }
  }
  own.on('SIGTERM', () => void stop(DRAIN_MS))
  own.on('SIGINT', () => void stop(HURRIED_DRAIN_MS))
  // NOTE: one terminal that closes may send several: by its shell, and by the kernel.
  own.on('SIGHUP', () => isStopping || void stop(DRAIN_MS))
}

/** Whatever hangs: a stop that takes longer than it may is a failed one. */
function endWithin(own: OwnProcess, ms: number): void {
  setTimeout(() => {
    process.stderr.write('stopping failed: it took too long\n')
    own.exit(1)
  }, ms)
}
