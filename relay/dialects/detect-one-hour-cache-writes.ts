import type { Usage } from '#domain/pricing/usage.ts'
import type { UsageReport } from '#relay/canonical/provider-usage-report.ts'

/**
 * Matches the member `"ttl": "1h"` of a `cache_control`, even if its characters are escaped. It
 * can't match inside a string, because JSON escapes the quotes there.
 */
const HOUR_TTL = /"(?:t|\\u0074){2}(?:l|\\u006c)"[ \t\r\n]*:[ \t\r\n]*"(?:1|\\u0031)(?:h|\\u0068)"/i

/**
 * Every match of `HOUR_TTL` contains at least one of these texts. A quick search for them avoids
 * the slower expression for most bodies.
 */
const HOUR_TTL_TEXTS = ['1h"', '1H"', '\\u00']

/**
 * Reports whether a request uses the provider's one-hour cache, which costs more than the
 * five-minute cache. The search is slow, so callers first check whether the provider has reported
 * cache writes or the text has been counted.
 */
export const requestsHourCache = (body: Buffer): boolean =>
  HOUR_TTL_TEXTS.some((text) => body.includes(text)) && HOUR_TTL.test(body.toString('latin1'))

/**
 * Counts all cache writes in a report as writes to the one-hour cache if the request uses it. Some
 * providers do not report the lifetime of cache writes.
 */
export function withHourCache(report: UsageReport, body: Buffer): UsageReport {
  const { usage, otherReading } = report
  const hasWrites = usage.cacheWrite5m > 0 || (otherReading?.cacheWrite5m ?? 0) > 0
  if (!hasWrites || !requestsHourCache(body)) return report
  const other = otherReading && inHourCache(otherReading)
  return { ...report, usage: inHourCache(usage), otherReading: other }
}

const inHourCache = (usage: Usage): Usage => ({
  ...usage,
  cacheWrite5m: 0,
  cacheWrite1h: usage.cacheWrite1h + usage.cacheWrite5m,
})
