import type { IncomingMessage } from 'node:http'
import { relayError } from './canonical/relay-error.ts'
import { type Exchange, sendError } from './pipeline/exchange.ts'

const POLL_MS = 20
/** The time allowed for writing the last settlements once the grace period is over. */
const SETTLE_MS = 3_000

/** Tracks the running calls from their arrival on, and drains them. */
export type Draining = {
  readonly isBegun: () => boolean
  readonly inFlight: () => number
  /** Counts the call until it ends. */
  readonly during: (exchange: Exchange, call: Promise<void>) => void
  /**
   * Waits up to `graceMs` for all calls, then ends them. A second drain with a shorter period
   * shortens the first.
   */
  readonly drain: (graceMs: number) => Promise<void>
}

type Options = {
  /** Ends the dispatched calls. */
  readonly abort: () => void
  /** An upload that receives no byte for this long is refused. */
  readonly uploadStallMs: number
}

export function createDraining({ abort, uploadStallMs }: Options): Draining {
  const calls = new Set<Exchange>()
  const endStalled = stalledUploads(uploadStallMs)
  let isBegun = false
  // The time is monotonic. A second drain may bring it forward.
  let graceEndsAt = Number.POSITIVE_INFINITY
  const untilIdle = async (endsAt: () => number, onLook: () => void): Promise<void> => {
    while (calls.size > 0 && performance.now() < endsAt()) {
      onLook()
      await new Promise((resume) => setTimeout(resume, POLL_MS))
    }
  }
  return {
    isBegun: () => isBegun,
    inFlight: () => calls.size,
    during: (exchange, call) => {
      calls.add(exchange)
      void call.finally(() => calls.delete(exchange))
    },
    drain: async (graceMs) => {
      isBegun = true
      graceEndsAt = Math.min(graceEndsAt, performance.now() + graceMs)
      await untilIdle(
        () => graceEndsAt,
        () => endStalled(calls),
      )
      const endsAt = performance.now() + SETTLE_MS
      // The abort is repeated, because a call may be admitted or begin an attempt after the first
      // one.
      await untilIdle(() => endsAt, abort)
    },
  }
}

/** A closing server no longer applies its request timeouts, so stalled uploads are ended here. */
function stalledUploads(stallMs: number): (calls: Iterable<Exchange>) => void {
  const seen = new WeakMap<IncomingMessage, { readonly bytes: number; readonly at: number }>()
  return (calls) => {
    const now = performance.now()
    for (const exchange of calls) {
      const { request, response } = exchange
      if (request.complete || request.destroyed || response.headersSent) continue
      const bytes = request.socket.bytesRead
      const last = seen.get(request)
      if (last?.bytes !== bytes) seen.set(request, { bytes, at: now })
      else if (now - last.at >= stallMs) {
        response.shouldKeepAlive = false
        // Without this, the code that reads the body would wait for a connection that stays open.
        response.once('finish', () => request.destroy())
        sendError(exchange, drainingError())
      }
    }
  }
}

/** The random delay keeps callers from returning all at once. */
export const drainingError = () =>
  relayError('draining', { retryAfter: 3 + Math.floor(Math.random() * 5) })
