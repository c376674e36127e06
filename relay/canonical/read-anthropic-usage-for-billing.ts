import { NO_USAGE } from '#domain/pricing/usage.ts'
import type { UsageContext } from '#relay/dialects/wire-format.ts'
import { isCount } from './combine-usage-reports.ts'
import { countWritesAsOneHour } from './count-cache-writes-as-one-hour.ts'
import { type JsonObject, objectOrEmpty } from './json-values.ts'
import { Counts, RemainingTokens, TOKENS_MAX, type UsageReport } from './provider-usage-report.ts'

/** The types of the iterations whose tokens are already part of the top-level counts. */
const WITHIN_TOTAL: ReadonlySet<unknown> = new Set(['message', 'fallback_message'])

/**
 * Reports whether an element of `usage.iterations` has tokens that the counts at the top level of
 * the usage do not include, such as those of a compaction.
 */
export const isOutsideTotal = (iteration: unknown): iteration is JsonObject => {
  const { type } = objectOrEmpty(iteration)
  return typeof type === 'string' && !WITHIN_TOTAL.has(type)
}

/**
 * Reads the usage of Anthropic's Messages API. Its `input_tokens` exclude the tokens that were read
 * from the cache or written to it. Cache writes without a reported lifetime are billed as
 * five-minute writes, unless `countWritesAsOneHour` finds that the request uses the one-hour cache.
 * The tokens of an iteration are added if the top-level counts do not include them.
 */
export function readAnthropicUsage(
  raw: unknown,
  { body, inputCeiling, outputCeiling }: UsageContext,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) {
    return { usage: NO_USAGE, otherInterpretation: null, isTrusted: false, anomaly: 'missing' }
  }
  const reported = raw as JsonObject
  const counts = new Counts()
  const inputMost = Math.min(TOKENS_MAX, inputCeiling)
  const uncached = counts.required(reported.input_tokens, inputMost)
  const output = counts.required(reported.output_tokens, outputCeiling)
  const { iterations } = reported
  const beside = Array.isArray(iterations) ? iterations.filter(isOutsideTotal) : []
  const parts = [
    { uncached, output, ...readCache(reported, counts) },
    ...beside.map((iteration) => ({
      uncached: counts.optional(iteration.input_tokens, inputMost),
      output: counts.optional(iteration.output_tokens, outputCeiling),
      ...readCache(iteration, counts),
    })),
  ]
  const sumOf = (name: keyof (typeof parts)[0]) => parts.reduce((sum, part) => sum + part[name], 0)
  const room = new RemainingTokens(inputMost)
  // The most expensive tokens are taken first, so that a sum above the ceiling does not make the
  // call cheaper.
  const usage = {
    ...NO_USAGE,
    cacheWrite1h: room.take(sumOf('hour')),
    cacheWrite5m: room.take(sumOf('fiveMinutes')),
    inputUncached: room.take(sumOf('uncached')),
    cacheRead: room.take(sumOf('cached')),
    output: Math.min(sumOf('output'), outputCeiling),
  }
  const total = sumOf('uncached') + sumOf('cached') + sumOf('hour') + sumOf('fiveMinutes')
  const isCut = total > inputMost || sumOf('output') > outputCeiling || sumOf('excess') > 0
  const anomaly = counts.anomaly ?? (isCut ? 'parts-exceed-whole' : null)
  const tools = reported.server_tool_use
  const toolUses = { web_search: objectOrEmpty(tools).web_search_requests }
  const read = { usage, otherInterpretation: null, isTrusted: counts.anomaly === null, anomaly }
  const report = tools === undefined || tools === null ? read : { ...read, toolUses }
  return sumOf('split') > 0 ? report : countWritesAsOneHour(report, body)
}

/**
 * Reads the counts of cached tokens. `split` is the number of written tokens with a reported
 * lifetime. Written tokens without a reported lifetime count as five-minute writes. If the usage
 * reports a valid total of written tokens, `hour` and `fiveMinutes` are limited to this total, and
 * the cheaper five-minute writes are reduced first. `excess` is the number of tokens by which
 * `split` exceeds this total.
 */
function readCache(reported: JsonObject, counts: Counts) {
  const cached = counts.optional(reported.cache_read_input_tokens)
  const written = counts.optional(reported.cache_creation_input_tokens)
  const lifetimes = objectOrEmpty(reported.cache_creation)
  const ofFiveMinutes = counts.optional(lifetimes.ephemeral_5m_input_tokens)
  const ofHour = counts.optional(lifetimes.ephemeral_1h_input_tokens)
  const split = ofFiveMinutes + ofHour
  const isLimited = isCount(reported.cache_creation_input_tokens)
  const hour = isLimited ? Math.min(ofHour, written) : ofHour
  const fiveMinutes = isLimited ? written - hour : Math.max(ofFiveMinutes, written - hour)
  const excess = isLimited ? Math.max(0, split - written) : 0
  return { cached, hour, fiveMinutes, split, excess }
}
