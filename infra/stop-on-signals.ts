import type { Started } from './start.ts'
import { describeStartError } from './start-error.ts'

const DRAIN_MS = 120_000
const HURRIED_DRAIN_MS = 10_000
/**
 * The maximum time in milliseconds that a shutdown may take after its grace period. During this
 * time, the shutdown ends calls and closes connections.
 */
const STOP_WITHIN_MS = 15_000
/** The maximum time in milliseconds in which an aborted start closes what it has opened. */
const ABORT_WITHIN_MS = 10_000

type ProcessHandle = {
  readonly on: (signal: NodeJS.Signals, listener: () => void) => unknown
  readonly exit: (code: number) => void
}

/**
 * Stops the product when the process gets a signal. During the start, a signal aborts the start.
 * After the start, the first signal begins a shutdown in which streams may finish. A second SIGINT
 * or SIGTERM shortens the shutdown; a later SIGHUP is ignored. The exit code is 1 if the shutdown
 * fails or takes too long, otherwise 0. An aborted start that takes longer than ten seconds to end
 * also exits with 0.
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

function forceExitAfter(target: ProcessHandle, ms: number): void {
  setTimeout(() => {
    process.stderr.write('stopping failed: it took too long\n')
    target.exit(1)
  }, ms)
}
