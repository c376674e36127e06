import type { Recorded } from '#domain/shared/event.ts'
import { parseZonedTime } from '#domain/shared/zoned-time.ts'
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

/** Reports whether an event is after the moment. No event is after the present. */
export const isAfter = ({ position, meta }: Recorded, at: At | null): boolean =>
  at !== null && ('position' in at ? position > at.position : meta.at > at.time)
