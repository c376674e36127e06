import type { LongResponses } from '#infra/drain.ts'
import { httpError } from '#infra/http/http-errors.ts'

const RETRY_SECONDS = 5

export type SeatLimits = {
  /** Of all users at once, by this process. */
  readonly all: number
  /** Of one user at once. */
  readonly each: number
  /** Of all, those that admins alone may take; none where it is left out. */
  readonly keptForAdmins?: number
}

/**
 * Acquires a permit for an export of the user, and answers how to release it; throws a 429 where
 * none is left. A stop waits for those who sit.
 */
export function createPermits(
  { all, each, keptForAdmins = 0 }: SeatLimits,
  inFlight: LongResponses,
) {
  const taken = new Map<number, number>()
  let total = 0
  const count = (userId: number, by: 1 | -1): void => {
    total += by
    inFlight.inFlight += by
    const own = (taken.get(userId) ?? 0) + by
    if (own === 0) taken.delete(userId)
    else taken.set(userId, own)
  }
  return (userId: number, isAdmin = false): (() => void) => {
    const most = isAdmin ? all : all - keptForAdmins
    const isFull = total >= most || (taken.get(userId) ?? 0) >= each
    if (isFull) throw httpError('TooManyExports', {}, RETRY_SECONDS)
    count(userId, 1)
    let isLeft = false
    return () => {
      if (!isLeft) count(userId, -1)
      isLeft = true
    }
  }
}

export type ReadLimits = { readonly stallMs: number; readonly wholeMs: number }

/**
 * Pieces of a file, which is cut off once nobody has asked for another one for `stallMs`, or after
 * `wholeMs`: who reads no more, or a little now and then, would keep a permit for ever. `cut` ends
 * the file.
 */
export async function* whileRead(
  pieces: AsyncIterable<string>,
  { stallMs, wholeMs }: ReadLimits,
  cut: (why: Error) => void,
): AsyncGenerator<string> {
  const onStall = () => cut(new Error('the reader of an export stopped reading'))
  const onLong = () => cut(new Error('an export took too long to be read'))
  const timer = setTimeout(onStall, stallMs)
  const whole = setTimeout(onLong, wholeMs)
  try {
    for await (const piece of pieces) {
      timer.refresh()
      yield piece
    }
  } finally {
    clearTimeout(timer)
    clearTimeout(whole)
  }
}
