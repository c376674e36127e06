import { setTimeout as delay } from 'node:timers/promises'
import type { HttpListener } from './http-listener.ts'

/** What a stop has come to, for those who answer requests. */
export type DrainState = {
  /** Aborted as it begins: not ready any more, new work is refused, answers close connections. */
  readonly begun: AbortController
  /** Besides the relay's calls: files that are being read. */
  readonly longAnswers: LongAnswers
}

/** How many there are that a stop waits for, as long as its grace lasts. */
export type LongAnswers = { underWay: number }

export const notDraining = (): DrainState => ({
  begun: new AbortController(),
  longAnswers: { underWay: 0 },
})

/** Of the relay: calls under way, and how to end them. */
type Calls = {
  readonly inFlight: () => number
  readonly drain: (graceMs: number) => Promise<void>
}

/** For load balancers to see that this process is not ready: until then callers are told so. */
const LISTEN_ON_MS = 5_000
const LOOK_MS = 50
/** For answers to be read to their end, and for the API's to be given, once no call is left. */
const CLOSE_WITHIN_MS = 5_000

export type Drain = {
  /** Resolves once no call is under way and no connection is open. */
  readonly start: (graceMs: number) => Promise<void>
  readonly hurry: (graceMs: number) => void
}

/**
 * Streams finish, new work is refused from the first moment on. While there are streams the port
 * stays open for some seconds, so that whoever connects is told to come back; then it is closed.
 */
export function createDrain(
  state: DrainState,
  relay: Calls | null,
  listener: HttpListener | null,
): Drain {
  const hurried = new AbortController()
  const lookOn = async (forMs: number): Promise<void> => {
    const until = performance.now() + forMs
    const isBusy = () => (relay?.inFlight() ?? 0) + state.longAnswers.underWay > 0
    while (performance.now() < until && !hurried.signal.aborted && isBusy()) await delay(LOOK_MS)
  }
  const untilAnswered = async (forMs: number): Promise<void> => {
    const until = performance.now() + forMs
    const isBusy = () => state.longAnswers.underWay > 0 && !hurried.signal.aborted
    while (performance.now() < until && isBusy()) await delay(LOOK_MS)
  }
  return {
    hurry: (graceMs) => {
      hurried.abort()
      void relay?.drain(graceMs)
    },
    start: async (graceMs) => {
      state.begun.abort()
      const finished = Promise.all([relay?.drain(graceMs), untilAnswered(graceMs)])
      await lookOn(Math.min(LISTEN_ON_MS, graceMs / 4))
      const closed = listener?.close()
      // One whose stream has ended would else be used for another call.
      const closing = setInterval(() => listener?.server.closeIdleConnections(), LOOK_MS)
      await finished
      await Promise.race([closed, delay(CLOSE_WITHIN_MS, undefined, { ref: false })])
      clearInterval(closing)
      // NOTE: a server that closes has no timeouts any more, and one that never sent a byte is not
      // idle to it: such a connection would stay open as long as its other end likes.
      listener?.server.closeAllConnections()
    },
  }
}
