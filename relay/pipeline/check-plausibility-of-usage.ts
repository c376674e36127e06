import { inputTokensOf, type TokenLimits, type Usage } from '#domain/pricing/usage.ts'
import type { CountableText } from '#relay/canonical/answer-text-for-token-count.ts'
import {
  recordOf,
  TOKENS_MAX,
  type UsageBounds,
  type UsageReport,
} from '#relay/canonical/provider-usage-report.ts'
import { CEILING_BASE } from '#relay/dialects/openai-chat/input-token-bound.ts'
import { type ChatRequest, isDirectFormat } from '#relay/dialects/wire-format.ts'
import type { ProviderTarget } from '../providers/openai-compatible/provider-target.ts'

/**
 * The data apart from the answer on which the billed usage depends: a `Candidate`, or a line of a
 * batch.
 */
export type MeteredCall = {
  readonly request: ChatRequest
  readonly channel: {
    readonly target: Pick<ProviderTarget, 'isOutputTotalLessPrompt' | 'endpoints'> | null
  }
}

/** A provider's tokenizer may count this many times as many tokens as the gateway's. */
const TOKENIZER_FACTOR = 3
/** The output beyond its limit that is not worth a flag, for example of calls of tools. */
const SURPLUS = 1_024
/**
 * The input beyond its bound that is not worth a flag, such as a provider's own system prompt. The
 * ceiling of the input allows for `CEILING_BASE`.
 */
const HIDDEN_INPUT = 32_000
/** A prompt that includes its cached tokens is not smaller than the own count by this factor. */
const OWN_COUNT_FACTOR = 1.5
/** A cache beside the prompt makes the input at most this many times as large as the own count. */
const BESIDE_FACTOR = TOKENIZER_FACTOR + 1

/**
 * Members that make a model reason, possibly outside its limit, or whose output is charged although
 * the answer does not show it. Sound and images have no own count that is reliable.
 */
const HIDDEN_OUTPUT: ReadonlySet<string> = new Set([
  ...['reasoning', 'reasoning_effort', 'thinking', 'enable_thinking', 'thinking_budget'],
  ...['chat_template_kwargs', 'extra_body', 'prediction', 'modalities'],
])

/** Models that reason, or that work in several steps of which the answer shows the last one. */
const WORKING = /reason|think|research|search|agent|compound|sonar|online|(?:^|[-/])(?:o\d|r1|qwq)/i

/**
 * Returns the output limit that was sent, as the sum over all choices; null if none was sent or the
 * format has none.
 */
const sentLimit = ({ request }: MeteredCall, { outputTokens }: TokenLimits): number | null =>
  request.outputTokensMax === null || isDirectFormat(request.format.name) ? null : outputTokens

/** Returns the highest output count that a limit or an own count explains. */
const explainedBy = (tokens: number): number => tokens + Math.ceil(tokens / 8) + SURPLUS

/** Reports whether the output is well above the limit that was sent. */
const exceedsLimit = (report: UsageReport, call: MeteredCall, limits: TokenLimits): boolean => {
  const limit = sentLimit(call, limits)
  return limit !== null && report.usage.output > explainedBy(limit)
}

/** Reports whether a report must be compared with the gateway's own count. */
export const isDoubtful = (report: UsageReport, call: MeteredCall, limits: TokenLimits): boolean =>
  report.otherReading !== null || exceedsLimit(report, call, limits)

/**
 * Resolves doubtful counts of a report by the gateway's own count. An output well above the limit
 * is flagged. `read` reads the report again with a lower ceiling of the output.
 */
export function resolveDoubts(
  report: UsageReport,
  evidence: Evidence,
  read: (outputCeiling: number) => UsageReport,
): UsageReport {
  const { call, limits, counted } = evidence
  if (!exceedsLimit(report, call, limits)) return resolveCache(report, call, counted)
  const ceiling = ceilingByCount(report, evidence)
  const bounded = resolveCache(ceiling === null ? report : read(ceiling), call, counted)
  return { ...bounded, anomaly: bounded.anomaly ?? 'implausible' }
}

/**
 * Decides whether the cache in a report is beside the prompt. This is so if the prompt alone is too
 * small for the gateway's own count of the request. The cache is then limited by this count as
 * well, and the reading within the prompt becomes the other one.
 */
export function resolveCache(
  report: UsageReport,
  { request }: Pick<MeteredCall, 'request'>,
  counted: Usage,
): UsageReport {
  const { usage, otherReading } = report
  if (otherReading === null) return report
  const own = inputTokensOf(counted)
  if (own <= inputTokensOf(usage) * OWN_COUNT_FACTOR) return { ...report, otherReading: null }
  const most = request.inputBound.isText ? own * BESIDE_FACTOR : TOKENS_MAX
  return { ...report, usage: withCacheWithin(otherReading, most), otherReading: usage }
}

type Answer = { readonly rawUsage: unknown; readonly readText: () => CountableText }

export type Evidence = {
  readonly delivery: Answer
  readonly call: MeteredCall
  readonly limits: TokenLimits
  /** The gateway's own count. */
  readonly counted: Usage
}

/**
 * Returns the ceiling of an output above its limit: what the limit or the gateway's own count
 * explains. Returns null if the output may have tokens that neither explains.
 */
function ceilingByCount(
  report: UsageReport,
  { delivery, call, limits, counted }: Evidence,
): number | null {
  if (mayHideOutput(report, delivery, call)) return null
  const limit = sentLimit(call, limits) ?? 0
  return explainedBy(Math.max(limit, counted.output * TOKENIZER_FACTOR))
}

/**
 * Reports whether an answer may have output that its text does not show and that its limit does not
 * cover: reasoning, the work of the provider's tools, sound or images. The applications behind
 * translated chats are given no limit.
 */
function mayHideOutput(
  { usage }: UsageReport,
  { rawUsage, readText }: Answer,
  { request, channel }: MeteredCall,
): boolean {
  const { members, tools, toolLimits, reasoningEffort, model } = request
  const { target } = channel
  if (reportsReasoning(rawUsage) || reasoningEffort !== null || WORKING.test(model)) return true
  if (target?.isOutputTotalLessPrompt) return true
  if (target?.endpoints.some(({ translation }) => translation !== undefined)) return true
  if (toolLimits !== undefined || tools.some(({ isProviderTool }) => isProviderTool)) return true
  if (members.some(({ folded }) => HIDDEN_OUTPUT.has(folded))) return true
  if (usage.outputAudio > 0 || (usage.outputImage ?? 0) > 0) return true
  const { tokens, images = 0 } = readText()
  return tokens > 0 || images > 0
}

/** Reports whether a usage counts reasoning, or work beside the answer, such as a compaction. */
function reportsReasoning(rawUsage: unknown): boolean {
  const usage = recordOf(rawUsage)
  const counts = [
    recordOf(usage.completion_tokens_details).reasoning_tokens,
    recordOf(usage.output_tokens_details).reasoning_tokens,
    ...[usage.reasoning_tokens, usage.thoughtsTokenCount, usage.iterations],
  ]
  return counts.some((count) => count !== undefined && count !== null && count !== 0)
}

/** Reduces the cached tokens so that the whole input has at most `most` tokens. */
function withCacheWithin(usage: Usage, most: number): Usage {
  const excess = Math.max(0, inputTokensOf(usage) - most)
  const ofReads = Math.min(usage.cacheRead, excess)
  const ofWrites = Math.min(usage.cacheWrite5m, excess - ofReads)
  return {
    ...usage,
    cacheRead: usage.cacheRead - ofReads,
    cacheWrite5m: usage.cacheWrite5m - ofWrites,
  }
}

/** Reports whether a report has far more input than the request lets expect. */
export const isInputImplausible = (
  { usage }: UsageReport,
  { request }: Pick<MeteredCall, 'request'>,
  { inputCeiling }: UsageBounds,
): boolean =>
  inputCeiling < TOKENS_MAX &&
  !isDirectFormat(request.format.name) &&
  inputTokensOf(usage) > inputCeiling - CEILING_BASE + HIDDEN_INPUT
