import { NO_USAGE } from '#domain/pricing/usage.ts'
import { withHourCache } from '#relay/dialects/hour-cache.ts'
import type { UsageContext } from '#relay/dialects/wire-format.ts'
import { Counts, recordOf, TOKENS_MAX, type UsageReport, Whole } from './provider-usage-report.ts'

/**
 * Reads the usage of Anthropic's Messages API, whose input tokens exclude the tokens that were read
 * from or written to the cache. Writes without a split by lifetime count as writes to the cache
 * that the request uses.
 */
export function readAnthropicUsage(
  raw: unknown,
  { body, inputCeiling, outputCeiling }: UsageContext,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) {
    return { usage: NO_USAGE, withinPrompt: null, isTrusted: false, anomaly: 'missing' }
  }
  const reported = raw as Record<string, unknown>
  const counts = new Counts()
  const inputMost = Math.min(TOKENS_MAX, inputCeiling)
  const uncached = counts.required(reported.input_tokens, inputMost)
  const output = counts.required(reported.output_tokens, outputCeiling)
  const cached = counts.optional(reported.cache_read_input_tokens)
  const written = counts.optional(reported.cache_creation_input_tokens)
  const split = recordOf(reported.cache_creation)
  const fiveMinutes = counts.optional(split.ephemeral_5m_input_tokens)
  const hour = counts.optional(split.ephemeral_1h_input_tokens)
  const room = new Whole(inputMost)
  // The most expensive tokens come first, so that a total above the ceiling makes nothing cheaper.
  const usage = {
    ...NO_USAGE,
    cacheWrite1h: room.take(hour),
    cacheWrite5m: room.take(Math.max(fiveMinutes, written - hour)),
    inputUncached: room.take(uncached),
    cacheRead: room.take(cached),
    output,
  }
  const isTrusted = counts.anomaly === null
  const isSplit = fiveMinutes + hour > 0
  const total = uncached + cached + Math.max(written, fiveMinutes + hour)
  const isCut = total > inputMost || (isSplit && fiveMinutes + hour > written && written > 0)
  const anomaly = counts.anomaly ?? (isCut ? 'parts-exceed-whole' : null)
  const tools = reported.server_tool_use
  const toolUses = { web_search: recordOf(tools).web_search_requests }
  const read = { usage, withinPrompt: null, isTrusted, anomaly }
  const report = tools === undefined || tools === null ? read : { ...read, toolUses }
  return isSplit ? report : withHourCache(report, body)
}
