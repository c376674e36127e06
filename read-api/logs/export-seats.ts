import type { LongAnswers } from '#infra/drain.ts'
import { fault } from '#infra/http/faults.ts'

const RETRY_SECONDS = 5

export type SeatLimits = {
  /** Of all users at once, by this process. */
  readonly all: number
  /** Of one user at once. */
  readonly each: number
}

/**
 * Takes a seat for an export of the user, and answers how to give it back; throws a 429 where none
 * is left. A stop waits for those who sit.
 */
export function createSeats({ all, each }: SeatLimits, underWay: LongAnswers) {
  const taken = new Map<number, number>()
  let total = 0
  const count = (userId: number, by: 1 | -1): void => {
    total += by
    underWay.underWay += by
    const own = (taken.get(userId) ?? 0) + by
    if (own === 0) taken.delete(userId)
    else taken.set(userId, own)
  }
  return (userId: number): (() => void) => {
    const isFull = total >= all || (taken.get(userId) ?? 0) >= each
    if (isFull) throw fault('TooManyExports', RETRY_SECONDS)
    count(userId, 1)
    let isLeft = false
    return () => {
      if (!isLeft) count(userId, -1)
      isLeft = true
    }
  }
}

/**
 * Pieces of a file, which is cut off once nobody has asked for another one for `stallMs`: its
 * reader has stopped reading, and would keep a seat for ever. `cut` ends the file.
 */
export async function* whileRead(
  pieces: AsyncIterable<string>,
  stallMs: number,
  cut: (why: Error) => void,
): AsyncGenerator<string> {
  const onStall = () => cut(new Error('the reader of an export stopped reading'))
  const timer = setTimeout(onStall, stallMs)
  try {
    for await (const piece of pieces) {
      timer.refresh()
      yield piece
    }
  } finally {
    clearTimeout(timer)
  }
}
