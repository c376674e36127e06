import type { IncomingMessage } from 'node:http'
import { relayError } from './canonical/relay-error.ts'
import { type Exchange, sendError } from './pipeline/exchange.ts'

const LOOK_MS = 20
/** For the last ledger to be closed once the grace is over. */
const LAST_MS = 3_000

/** The calls under way, from their arrival on, and how they come to their end. */
export type Draining = {
  readonly isBegun: () => boolean
  readonly inFlight: () => number
  /** Counts the call until it is over. */
  readonly during: (exchange: Exchange, call: Promise<void>) => void
  /** Waits for all up to `graceMs`, then ends them; again, with less, it shortens the first. */
  readonly drain: (graceMs: number) => Promise<void>
}

type Options = {
  /** Ends those that are dispatched. */
  readonly abort: () => void
  /** An upload that brings nothing for so long is waited for no longer. */
  readonly uploadStallMs: number
}

export function createDraining({ abort, uploadStallMs }: Options): Draining {
  const calls = new Set<Exchange>()
  const endStalled = stalledUploads(uploadStallMs)
  let isBegun = false
  // By the process's own clock; a second drain may bring it forward.
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
      // At every look: one that is admitted only now, or begins a try, is ended too.
      await untilQuiet(() => endsAt, abort)
    },
  }
}

/** NOTE: a server that closes has none of its own timeouts any more. */
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
        // An answered request is not told that its connection closes: whoever reads it waits on.
        response.once('finish', () => request.destroy())
        sendError(exchange, drainingError())
      }
    }
  }
}

/** Callers come back, elsewhere or here, not all at once. */
export const drainingError = () =>
  relayError('draining', { retryAfter: 3 + Math.floor(Math.random() * 5) })
