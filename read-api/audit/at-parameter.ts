import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { auditError } from './audit-errors.ts'

/** A moment in the history: a position, or a time in unix milliseconds. */
export type At = { readonly position: number } | { readonly time: number }

const POSITION = /^\d{1,15}$/
const ISO_TIME =
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * Reads a parameter that is a position or a time in ISO 8601 with its zone; a date is its start in
 * UTC. An empty text is the present, which is null. Throws a 400 that names the field.
 */
export function readAt(text: string | undefined, field = 'at'): At | null {
  if (text === undefined || text === '') return null
  if (POSITION.test(text)) return { position: Number(text) }
  const time = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isFinite(time)) throw auditError('AtInvalid', { field })
  return { time }
}

/** Reports whether an event is after the moment. No event is after the present. */
export const isAfter = ({ position, meta }: Recorded, at: At | null): boolean =>
  at !== null && ('position' in at ? position > at.position : meta.at > at.time)

/**
 * Returns the position of the last event that is not after the time, by a binary search over
 * positions. Returns null if the store's positions have gaps, so that they can't be searched.
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

/** Returns whether every position has an event. EventStoreDB leaves gaps. */
export const hasDensePositions = ({ config }: Pick<Core, 'config'>): boolean =>
  config.eventStore?.url == null
