import { setTimeout as delay } from 'node:timers/promises'
import type { HttpListener } from './http-listener.ts'

/** The state of a stop, for the code that answers requests. */
export type DrainState = {
  /**
   * Aborted when the stop begins: readiness turns to 503, new work is rejected, and responses close
   * their connections.
   */
  readonly draining: AbortController
  /** Downloads in progress, which a stop waits for in addition to the relay's calls. */
  readonly longResponses: LongResponses
}

/** The number of long responses that a stop waits for, up to its grace. */
export type LongResponses = { inFlight: number }

export const createDrainState = (): DrainState => ({
  draining: new AbortController(),
  longResponses: { inFlight: 0 },
})

/** The part of the relay that a drain uses. */
type Calls = {
  readonly inFlight: () => number
  readonly drain: (graceMs: number) => Promise<void>
}

/**
 * Keeps the port open while load balancers notice that this process is not ready; callers get 503
 * until then.
 */
const KEEP_LISTENING_MS = 5_000
const POLL_MS = 50
/** Bounds the wait for the last response bytes to be read once no call is in flight. */
const CLOSE_WITHIN_MS = 5_000

export type Drain = {
  /** Resolves once no call is in flight and no connection is open. */
  readonly start: (graceMs: number) => Promise<void>
  readonly hurry: (graceMs: number) => void
}

/**
 * Creates the drain of a stop. New work is rejected from its first moment on, while streams finish.
 * As long as there are streams the port stays open for some seconds, so that new callers get a 503
 * with `Retry-After` instead of a refused connection.
 */
export function createDrain(
  state: DrainState,
  relay: Calls | null,
  listener: HttpListener | null,
): Drain {
  const hurried = new AbortController()
  const waitWhileBusy = async (forMs: number): Promise<void> => {
    const until = performance.now() + forMs
    const isBusy = () => (relay?.inFlight() ?? 0) + state.longResponses.inFlight > 0
    while (performance.now() < until && !hurried.signal.aborted && isBusy()) await delay(POLL_MS)
  }
  const waitForLongResponses = async (forMs: number): Promise<void> => {
    const until = performance.now() + forMs
    const isBusy = () => state.longResponses.inFlight > 0 && !hurried.signal.aborted
    while (performance.now() < until && isBusy()) await delay(POLL_MS)
  }
  return {
    hurry: (graceMs) => {
      hurried.abort()
      void relay?.drain(graceMs)
    },
    start: async (graceMs) => {
      state.draining.abort()
      const finished = Promise.all([relay?.drain(graceMs), waitForLongResponses(graceMs)])
      await waitWhileBusy(Math.min(KEEP_LISTENING_MS, graceMs / 4))
      const closed = listener?.close()
      // A keep-alive connection whose stream has ended could otherwise start another call.
      const closing = setInterval(() => listener?.server.closeIdleConnections(), POLL_MS)
      await finished
      await Promise.race([closed, delay(CLOSE_WITHIN_MS, undefined, { ref: false })])
      clearInterval(closing)
      // NOTE: a closing server has no timeouts, and Node does not count a connection that never
      // sent a byte as idle. Such a connection would stay open as long as its peer likes.
      listener?.server.closeAllConnections()
    },
  }
}
