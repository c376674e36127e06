import type { Usage } from '#domain/pricing/usage.ts'
import { requestsHourCache } from '#relay/dialects/detect-and-shorten-one-hour-caching.ts'
import { objectOrEmpty } from './json-values.ts'
import type { UsageReport } from './provider-usage-report.ts'

/**
 * Returns the report with all cache writes counted as writes to the one-hour cache, if the request
 * in `body` uses that cache. Used for reports that do not state the lifetime of cache writes.
 */
export function countWritesAsOneHour(report: UsageReport, body: Buffer): UsageReport {
  const { usage, otherInterpretation } = report
  const hasWrites = usage.cacheWrite5m > 0 || (otherInterpretation?.cacheWrite5m ?? 0) > 0
  if (!hasWrites || !requestsHourCache(body)) return report
  const other = otherInterpretation && inHourCache(otherInterpretation)
  return { ...report, usage: inHourCache(usage), otherInterpretation: other }
}

const inHourCache = (usage: Usage): Usage => ({
  ...usage,
  cacheWrite5m: 0,
  cacheWrite1h: usage.cacheWrite1h + usage.cacheWrite5m,
})

/**
 * Returns the report with writes to a 12-hour cache counted as writes to the one-hour cache, which
 * has the highest known price. `inputDetails` states how many tokens were written to the 12-hour
 * cache. If this number is invalid, all writes are counted as one-hour writes, because an invalid
 * number must not make the call cheaper. If the number is missing, `countWritesAsOneHour` applies.
 */
export function countLongWritesAsOneHour(
  report: UsageReport,
  inputDetails: unknown,
  body: Buffer,
): UsageReport {
  const long = objectOrEmpty(objectOrEmpty(inputDetails).cache_write_tokens_details).ttl_12h_tokens
  if (long === undefined) return countWritesAsOneHour(report, body)
  if (long === 0) return report
  const move = (usage: Usage): Usage => {
    const all = usage.cacheWrite5m
    const isCount = Number.isInteger(long) && (long as number) >= 0
    const moved = isCount ? Math.min(all, long as number) : all
    return { ...usage, cacheWrite5m: all - moved, cacheWrite1h: usage.cacheWrite1h + moved }
  }
  const { usage, otherInterpretation } = report
  return {
    ...report,
    usage: move(usage),
    otherInterpretation: otherInterpretation && move(otherInterpretation),
  }
}
