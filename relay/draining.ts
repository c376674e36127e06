import type { IncomingMessage } from 'node:http'
import { relayError } from './canonical/relay-error.ts'
import { type Exchange, sendError } from './pipeline/exchange.ts'

const LOOK_MS = 20
/** Time for the last bills to be written once the grace is over. */
const LAST_MS = 3_000

/** The calls under way, from their arrival on, and how a drain ends them. */
export type Draining = {
  readonly isBegun: () => boolean
  readonly inFlight: () => number
  /** Counts the call until it is over. */
  readonly during: (exchange: Exchange, call: Promise<void>) => void
  /** Waits up to `graceMs` for all calls, then ends them. A second, shorter one shortens it. */
  readonly drain: (graceMs: number) => Promise<void>
}

type Options = {
  /** Ends the calls that are dispatched. */
  readonly abort: () => void
  /** An upload that brings no byte for this long is refused. */
  readonly uploadStallMs: number
}

export function createDraining({ abort, uploadStallMs }: Options): Draining {
  const calls = new Set<Exchange>()
  const endStalled = stalledUploads(uploadStallMs)
  let isBegun = false
  // In monotonic time; a second drain may bring it forward.
  let graceEndsAt = Number.POSITIVE_INFINITY
  const untilQuiet = async (endsAt: () => number, look: () => void): Promise<void> => {
    while (calls.size > 0 && performance.now() < endsAt()) {
      look()
      await new Promise((resume) => setTimeout(resume, LOOK_MS))
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
      await untilQuiet(
        () => graceEndsAt,
        () => endStalled(calls),
      )
      const endsAt = performance.now() + LAST_MS
      // At every look, because a call may be admitted, or begin an attempt, only now.
      await untilQuiet(() => endsAt, abort)
    },
  }
}

/** NOTE: a server that is closing no longer applies its request timeouts. */
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
        // Otherwise the code that still reads the body would wait for a connection that stays open.
        response.once('finish', () => request.destroy())
        sendError(exchange, drainingError())
      }
    }
  }
}

/** The random delay keeps callers from returning all at once. */
export const drainingError = () =>
  relayError('draining', { retryAfter: 3 + Math.floor(Math.random() * 5) })
