import type { UsageContext } from '#relay/dialects/wire-format.ts'
import { readOpenAiUsage, recordOf, type UsageReport } from './provider-usage-report.ts'

/**
 * Reads the usage of OpenAI's Responses API, which has the meaning of the usage of chats with other
 * names. Writes to a cache that lasts for 12 hours are priced as writes to the one-hour cache.
 */
export function readResponsesUsage(
  raw: unknown,
  { isOutputTotalLessPrompt, ...bounds }: UsageContext,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) return readOpenAiUsage(raw, bounds)
  const reported = raw as Record<string, unknown>
  const details = recordOf(reported.input_tokens_details)
  const report = readOpenAiUsage(
    {
      ...reported,
      prompt_tokens: reported.input_tokens,
      completion_tokens: reported.output_tokens,
      prompt_tokens_details: details,
      completion_tokens_details: reported.output_tokens_details,
    },
    bounds,
    isOutputTotalLessPrompt,
  )
  const long = recordOf(details.cache_write_tokens_details).ttl_12h_tokens
  return long === undefined || long === 0 ? report : withLongWrites(report, long)
}

/**
 * Moves cache writes to the more expensive cache. If their count is invalid, all writes are moved,
 * so that an invalid count makes nothing cheaper.
 */
function withLongWrites(report: UsageReport, long: unknown): UsageReport {
  const move = (usage: UsageReport['usage']): UsageReport['usage'] => {
    const all = usage.cacheWrite5m
    const isCount = Number.isInteger(long) && (long as number) >= 0
    const moved = isCount ? Math.min(all, long as number) : all
    return { ...usage, cacheWrite5m: all - moved, cacheWrite1h: usage.cacheWrite1h + moved }
  }
  const { usage, withinPrompt } = report
  return { ...report, usage: move(usage), withinPrompt: withinPrompt && move(withinPrompt) }
}
