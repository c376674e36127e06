import { HOUR_CACHE } from '#domain/channels/restricted-request-members.ts'
import type { Usage } from '#domain/pricing/usage.ts'
import type { UsageReport } from '#relay/canonical/provider-usage-report.ts'
import { pathAt } from './path-at-json-offset.ts'
import type { ChatRequest } from './wire-format.ts'

/**
 * Matches the member `"ttl": "1h"` of a `cache_control`, even if its characters are escaped. It
 * can't match inside a string, because JSON escapes the quotes there.
 */
const HOUR_TTL = /"(?:t|\\u0074){2}(?:l|\\u006c)"[ \t\r\n]*:[ \t\r\n]*"(?:1|\\u0031)(?:h|\\u0068)"/i

/**
 * Every match of `HOUR_TTL` contains at least one of these texts. A quick search for them avoids
 * the slower expression for most bodies, even for those with other escapes.
 */
const HOUR_TTL_TEXTS = ['1h"', '1H"', '\\u0031', '\\u0068']

/**
 * Reports whether a request uses the provider's one-hour cache, which costs more than the
 * five-minute cache. The search takes about a millisecond for a megabyte.
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

const HOUR_TTLS = new RegExp(HOUR_TTL.source, 'gi')
const FIVE_MINUTES = '"5m"'
/** Matches the path of the lifetime of a cache mark. */
const LIFETIME = /(?:^|\.)cache_control\.ttl$/
/** Matches the paths of texts of the caller's own tools, which may have any members. */
const OF_TOOL = /\.(?:input|input_schema|input_examples|parameters)[.[]/
/** Anthropic accepts fewer marks, so the places of more marks are not worth a search. */
const PLACES_MAX = 16

/**
 * Returns the request with marks of the five-minute cache in place of those of the one-hour cache,
 * unless the channel allows the latter. The length of the body stays the same, and so do all
 * offsets in it. Returns the same request if nothing changes.
 */
export function withAllowedCache(
  request: ChatRequest,
  allowed: ReadonlySet<string>,
): { readonly request: ChatRequest; readonly dropped: readonly string[] } {
  const { body } = request
  if (allowed.has(HOUR_CACHE) || !requestsHourCache(body)) return { request, dropped: [] }
  const matches = [...body.toString('latin1').matchAll(HOUR_TTLS)]
  const spans = matches.map(({ index, 0: text }) => {
    const start = text.lastIndexOf('"', text.length - 2)
    return { start: index + start, length: text.length - start }
  })
  const isMark = ({ start }: { readonly start: number }): boolean => {
    const path = pathAt(body, start) ?? ''
    return LIFETIME.test(path) && !OF_TOOL.test(path)
  }
  const marks = spans.length > PLACES_MAX ? spans : spans.filter(isMark)
  if (marks.length === 0) return { request, dropped: [] }
  const shortened = Buffer.from(body)
  for (const { start, length } of marks) {
    shortened.write(FIVE_MINUTES.padEnd(length), start, 'latin1')
  }
  return { request: { ...request, body: shortened }, dropped: [HOUR_CACHE] }
}
