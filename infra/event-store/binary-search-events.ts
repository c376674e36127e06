import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '../core-dependencies.ts'
import type { EventStore } from './port.ts'

const GALLOP_FACTOR = 16

/**
 * Returns the first revision whose event satisfies `isReached`, or the revision after the last
 * event if none does. If an event satisfies the condition, all later events must satisfy it too.
 * The binary search reads only a few events, even of a long stream.
 */
export async function firstRevision(
  store: Pick<EventStore, 'readStream'>,
  stream: string,
  isReached: (event: Recorded) => boolean,
): Promise<number> {
  const isAt = reachedAt(store, stream, isReached)
  if (await isAt(0)) return 0
  let low = 0
  let step = 1
  while (!(await isAt(low + step))) {
    low += step
    step *= GALLOP_FACTOR
  }
  return await firstBetween(isAt, low, low + step)
}

/**
 * Like `firstRevision`, but searches backwards from revision `end`, at which the condition must
 * hold. The search is fast if the result is near `end`.
 */
export async function firstRevisionBefore(
  store: Pick<EventStore, 'readStream'>,
  stream: string,
  isReached: (event: Recorded) => boolean,
  end: number,
): Promise<number> {
  const isAt = reachedAt(store, stream, isReached)
  let high = end
  for (let step = 1; high > 0; step *= GALLOP_FACTOR) {
    const low = Math.max(0, high - step)
    if (!(await isAt(low))) return await firstBetween(isAt, low, high)
    high = low
  }
  return 0
}

type IsAt = (revision: number) => Promise<boolean>

const reachedAt =
  (
    store: Pick<EventStore, 'readStream'>,
    stream: string,
    isReached: (event: Recorded) => boolean,
  ): IsAt =>
  async (revision) => {
    const [event] = await store.readStream(stream, revision, 1)
    return event === undefined || isReached(event)
  }

/**
 * Returns the first revision at which the condition holds. The condition must hold at `to`, and
 * must not hold at `from`.
 */
async function firstBetween(isAt: IsAt, from: number, to: number): Promise<number> {
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (await isAt(middle)) high = middle
    else low = middle
  }
  return high
}

/**
 * Returns the position of the last event at or before `time` (Unix milliseconds), or 0 if there is
 * none. Searches the positions with a binary search. Returns null if the store leaves gaps between
 * positions, because a binary search is then impossible.
 */
export async function positionOfTime(
  store: Pick<EventStore, 'readAll' | 'headPosition'>,
  time: number,
  isDense: boolean,
): Promise<number | null> {
  if (!isDense) return null
  let low = 0
  let high = (await store.headPosition()) + 1
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await store.readAll(middle - 1, 1)
    if (event === undefined || event.meta.at > time) high = middle
    else low = middle
  }
  return low
}

/** Reports whether every position has an event. EventStoreDB leaves gaps between positions. */
export const hasDensePositions = ({ config }: Pick<Core, 'config'>): boolean =>
  config.eventStore?.url == null
