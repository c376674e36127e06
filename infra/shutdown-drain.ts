import { setTimeout as delay } from 'node:timers/promises'
import type { HttpListener } from './http-listener.ts'

export type DrainState = {
  /**
   * Aborted when the shutdown begins. After the abort, readiness returns 503, new requests are
   * rejected, and responses close their connections.
   */
  readonly draining: AbortController
  readonly longResponses: LongResponses
}

/**
 * Counts the downloads in progress. A shutdown waits for these downloads within its grace period.
 */
export type LongResponses = { inFlight: number }

export const createDrainState = (): DrainState => ({
  draining: new AbortController(),
  longResponses: { inFlight: 0 },
})

type Calls = {
  readonly inFlight: () => number
  readonly drain: (graceMs: number) => Promise<void>
}

/**
 * The maximum time in milliseconds for which the port stays open after the shutdown has begun.
 * During this time, new requests get 503, which tells load balancers about the shutdown.
 */
const KEEP_LISTENING_MS = 5_000
const POLL_MS = 50
/**
 * The time in milliseconds that clients have to read the last bytes of a response after the last
 * call has ended.
 */
const CLOSE_WITHIN_MS = 5_000

export type Drain = {
  /**
   * Starts the shutdown. Resolves once all calls and connections have ended. Calls and connections
   * that take too long are ended.
   */
  readonly start: (graceMs: number) => Promise<void>
  readonly hurry: (graceMs: number) => void
}

/**
 * Ends this process's work at a shutdown. Streams in progress may finish. Meanwhile, the port stays
 * open for some seconds, so that new requests get a 503 with `Retry-After` instead of a refused
 * connection.
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
      // A client must not start another call on a keep-alive connection after its stream has ended.
      const closing = setInterval(() => listener?.server.closeIdleConnections(), POLL_MS)
      await finished
      await Promise.race([closed, delay(CLOSE_WITHIN_MS, undefined, { ref: false })])
      clearInterval(closing)
      // NOTE: a closing server applies no timeouts, and Node does not count a connection that never
      // sent a byte as idle. All connections that are left must therefore be closed here.
      listener?.server.closeAllConnections()
    },
  }
}
