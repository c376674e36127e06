const ZONED_TIME =
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * Parses a time in ISO 8601 with its zone, or a date, which is its start in UTC. Returns unix
 * milliseconds, or null for any other text: a time without a zone would depend on the machine.
 */
export function parseZonedTime(text: string): number | null {
  const time = ZONED_TIME.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(time) ? time : null
}
