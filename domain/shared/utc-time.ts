const ZONED_TIME =
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * Parses an ISO 8601 time with a time zone, or a date. A date means the start of the day in UTC.
 * Returns Unix milliseconds, or null for any other text. A time without a zone is refused, because
 * its meaning would depend on the machine.
 */
export function parseZonedTime(text: string): number | null {
  const time = ZONED_TIME.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(time) ? time : null
}

/** Returns the UTC day as text that sorts by day, such as `2026-11-22`. */
export const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10)
