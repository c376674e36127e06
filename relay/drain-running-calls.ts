import { relayError } from './canonical/relay-error.ts'
import { type Exchange, sendError } from './pipeline/http-exchange.ts'
import type { CallRequest } from './pipeline/http-request-and-response-types.ts'
import { UnorderedList } from './unordered-list.ts'

const POLL_MS = 20
/** The maximum time after the grace period to wait for the bills of the last calls. */
const SETTLE_MS = 3_000

/** Tracks the running calls, and ends them when the process shuts down. */
export type Draining = {
  readonly isBegun: () => boolean
  readonly inFlight: () => number
  /** Counts the call as running until the promise settles. */
  readonly during: (exchange: Exchange, call: Promise<void>) => void
  /**
   * Waits up to `graceMs` for all running calls, then ends the calls that are still running.
   * Calling `drain` again with a shorter period shortens the wait.
   */
  readonly drain: (graceMs: number) => Promise<void>
}

type Options = {
  readonly abort: () => void
  /**
   * The responses that are still being cancelled at their providers after their calls have ended.
   */
  readonly cancellations: { readonly size: number }
  /** The time without a received byte after which an upload is refused. */
  readonly uploadStallMs: number
}

/** Creates the object that tracks running calls. `abort` ends all calls that are still running. */
export function createDraining({ abort, cancellations, uploadStallMs }: Options): Draining {
  const calls = new UnorderedList<Exchange>()
  const endStalled = stalledUploads(uploadStallMs)
  let isBegun = false
  // The time at which the grace period ends, by `performance.now()`. A second call of `drain` may
  // set an earlier end.
  let graceEndsAt = Number.POSITIVE_INFINITY
  const inFlight = (): number => calls.size + cancellations.size
  const untilIdle = async (endsAt: () => number, onLook: () => void): Promise<void> => {
    while (inFlight() > 0 && performance.now() < endsAt()) {
      onLook()
      await new Promise((resume) => setTimeout(resume, POLL_MS))
    }
  }
  return {
    isBegun: () => isBegun,
    inFlight,
    during: (exchange, call) => {
      const entry = calls.add(exchange)
      const end = (): void => calls.remove(entry)
      call.then(end, end)
    },
    drain: async (graceMs) => {
      isBegun = true
      graceEndsAt = Math.min(graceEndsAt, performance.now() + graceMs)
      await untilIdle(
        () => graceEndsAt,
        () => endStalled(calls),
      )
      const endsAt = performance.now() + SETTLE_MS
      // The abort is repeated, because a call may still be admitted or begin another attempt after
      // the first abort.
      await untilIdle(() => endsAt, abort)
    },
  }
}

/**
 * Returns a function that refuses stalled uploads. It is needed because a closing server no longer
 * applies its own timeouts.
 */
function stalledUploads(stallMs: number): (calls: UnorderedList<Exchange>) => void {
  const seen = new WeakMap<CallRequest, { readonly bytes: number; readonly at: number }>()
  return (calls) => {
    const now = performance.now()
    for (const { member: exchange } of calls) {
      const { request, response } = exchange
      if (request.complete || request.destroyed || response.headersSent) continue
      const bytes = request.socket.bytesRead
      const last = seen.get(request)
      if (last?.bytes !== bytes) seen.set(request, { bytes, at: now })
      else if (now - last.at >= stallMs) {
        response.shouldKeepAlive = false
        // The relay still waits for the request's body. Destroying the request ends this wait.
        response.once('finish', () => request.destroy())
        sendError(exchange, drainingError())
      }
    }
  }
}

/**
 * Creates the error for calls during a shutdown. `retryAfter` is random, so that not all callers
 * retry at the same time.
 */
export const drainingError = () =>
  relayError('draining', { retryAfter: 3 + Math.floor(Math.random() * 5) })
