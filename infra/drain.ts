import type { Server } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/** What a stop has come to, for those who answer requests. */
export type DrainState = {
  /** Not ready any more; connections close after their answers. */
  isDraining: boolean
  /** The port is closed; what still comes in on an open connection is refused. */
  isRefusing: boolean
}

/** Of the relay: calls under way, and how to end them. */
type Calls = {
  readonly inFlight: () => number
  readonly drain: (graceMs: number) => Promise<void>
}

/** For load balancers to see that this process is not ready. */
const LISTEN_ON_MS = 5_000
const LOOK_MS = 50

export type Drain = {
  /** Resolves once no call is under way. */
  readonly start: (graceMs: number) => Promise<void>
  readonly hurry: (graceMs: number) => void
}

/**
 * Streams finish. New requests are taken for some seconds more while there are any, then the port
 * is closed: whoever connects goes to another process, with nothing begun here.
 */
export function createDrain(state: DrainState, relay: Calls | null, server: Server | null): Drain {
  const hurried = new AbortController()
  const lookOn = async (forMs: number): Promise<void> => {
    const until = performance.now() + forMs
    while (performance.now() < until && !hurried.signal.aborted && (relay?.inFlight() ?? 0) > 0) {
      await delay(LOOK_MS)
    }
  }
  return {
    hurry: (graceMs) => {
      hurried.abort()
      void relay?.drain(graceMs)
    },
    start: async (graceMs) => {
      state.isDraining = true
      const listenOnMs = Math.min(LISTEN_ON_MS, graceMs / 4)
      await lookOn(listenOnMs)
      state.isRefusing = true
      server?.close()
      // One whose stream has ended would else be used for another call.
      const closing = setInterval(() => server?.closeIdleConnections(), LOOK_MS)
      await relay?.drain(graceMs - listenOnMs)
      clearInterval(closing)
    },
  }
}
