import type { LongResponses } from '#infra/drain.ts'
import { httpError } from '#infra/http/http-errors.ts'

const RETRY_SECONDS = 5

export type PermitLimits = {
  /** Concurrent exports of all users in this process. */
  readonly all: number
  /** Concurrent exports of one user. */
  readonly each: number
  /** The part of `all` that is reserved for admins; the default is 0. */
  readonly reservedForAdmins?: number
}

/**
 * Acquires a permit for an export of the user and returns the function that releases it. Throws a
 * 429 if none is left. A stop waits for running exports.
 */
export function createPermits(
  { all, each, reservedForAdmins = 0 }: PermitLimits,
  inFlight: LongResponses,
) {
  const held = new Map<number, number>()
  let total = 0
  const count = (userId: number, by: 1 | -1): void => {
    total += by
    inFlight.inFlight += by
    const ofUser = (held.get(userId) ?? 0) + by
    if (ofUser === 0) held.delete(userId)
    else held.set(userId, ofUser)
  }
  return (userId: number, isAdmin = false): (() => void) => {
    const limit = isAdmin ? all : all - reservedForAdmins
    const isFull = total >= limit || (held.get(userId) ?? 0) >= each
    if (isFull) throw httpError('TooManyExports', {}, RETRY_SECONDS)
    count(userId, 1)
    let isReleased = false
    return () => {
      if (!isReleased) count(userId, -1)
      isReleased = true
    }
  }
}

export type ReadLimits = { readonly stallMs: number; readonly totalMs: number }

/**
 * Yields the chunks of a file, which is cut off if no chunk was requested for `stallMs`, or after
 * `totalMs` in all: a client that stops reading, or reads very slowly, would otherwise keep a
 * permit for ever. `cut` ends the file.
 */
export async function* limitReading(
  chunks: AsyncIterable<string>,
  { stallMs, totalMs }: ReadLimits,
  cut: (reason: Error) => void,
): AsyncGenerator<string> {
  const onStall = () => cut(new Error('the client stopped reading an export'))
  const onLong = () => cut(new Error('reading an export took too long'))
  const stallTimer = setTimeout(onStall, stallMs)
  const totalTimer = setTimeout(onLong, totalMs)
  try {
    for await (const chunk of chunks) {
      stallTimer.refresh()
      yield chunk
    }
  } finally {
    clearTimeout(stallTimer)
    clearTimeout(totalTimer)
  }
}
