import type { Recorded } from '#domain/shared/event.ts'
import { parseZonedTime } from '#domain/shared/utc-time.ts'
import { expectOrdered } from '../read-dependencies-and-query-parameters.ts'
import { auditError } from './audit-errors.ts'

/** A moment in the history: either the position of an event or a time in Unix milliseconds. */
export type Moment = { readonly position: number } | { readonly time: number }

const POSITION = /^\d{1,15}$/

/**
 * Reads a query parameter that is either the position of an event or an ISO 8601 time with a time
 * zone. A date without a time is midnight UTC. Returns null, which means the present, if the text
 * is empty or absent. Throws a 400 that names `field` for any other text.
 */
export function parseMoment(text: string | undefined, field = 'at'): Moment | null {
  if (text === undefined || text === '') return null
  if (POSITION.test(text)) return { position: Number(text) }
  const time = parseZonedTime(text)
  if (time === null) throw auditError('AtInvalid', { field })
  return { time }
}

/**
 * Reads both ends of a range in the history. Throws a 400 if the range would end before it begins.
 * A range from a position to a time, or from a time to a position, is not checked, because a
 * position and a time can't be compared.
 */
export function parseMomentRange(query: { readonly from?: string; readonly to?: string }) {
  const range = { from: parseMoment(query.from, 'from'), to: parseMoment(query.to, 'to') }
  const { from, to } = range
  if (from !== null && to !== null) {
    if ('position' in from && 'position' in to) expectOrdered(from.position, to.position)
    else if ('time' in from && 'time' in to) expectOrdered(from.time, to.time)
  }
  return range
}

/** Reports whether an event was recorded after the moment. No event is after the present (null). */
export const isAfter = ({ position, meta }: Recorded, moment: Moment | null): boolean =>
  moment !== null && ('position' in moment ? position > moment.position : meta.at > moment.time)
