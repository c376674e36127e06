import type { Recorded } from '#domain/shared/event.ts'
import { parseZonedTime } from '#domain/shared/parse-zoned-time.ts'
import { expectOrdered } from '../read-route-helpers.ts'
import { auditError } from './audit-errors.ts'

/** A moment in the history: a position, or a time in unix milliseconds. */
export type At = { readonly position: number } | { readonly time: number }

const POSITION = /^\d{1,15}$/

/**
 * Reads a parameter that is a position or a time in ISO 8601 with its zone; a date is its start in
 * UTC. An empty text is the present, which is null. Throws a 400 that names the field.
 */
export function readAt(text: string | undefined, field = 'at'): At | null {
  if (text === undefined || text === '') return null
  if (POSITION.test(text)) return { position: Number(text) }
  const time = parseZonedTime(text)
  if (time === null) throw auditError('AtInvalid', { field })
  return { time }
}

/**
 * Reads both ends of a range in the history. Throws a 400 if the range would end before it begins.
 * A position and a time can't be compared, so such a range is not checked.
 */
export function readRange(query: { readonly from?: string; readonly to?: string }) {
  const range = { from: readAt(query.from, 'from'), to: readAt(query.to, 'to') }
  const { from, to } = range
  if (from !== null && to !== null) {
    if ('position' in from && 'position' in to) expectOrdered(from.position, to.position)
    else if ('time' in from && 'time' in to) expectOrdered(from.time, to.time)
  }
  return range
}

/** Reports whether an event is after the moment. No event is after the present. */
export const isAfter = ({ position, meta }: Recorded, at: At | null): boolean =>
  at !== null && ('position' in at ? position > at.position : meta.at > at.time)
