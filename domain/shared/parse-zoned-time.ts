const ZONED_TIME =
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * Parses an ISO 8601 time with a time zone, or a date, which means the start of that day in UTC.
 * Returns Unix milliseconds, or null for any other text. A time without a zone is refused, because
 * its meaning would depend on the machine.
 */
export function parseZonedTime(text: string): number | null {
  const time = ZONED_TIME.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(time) ? time : null
}
