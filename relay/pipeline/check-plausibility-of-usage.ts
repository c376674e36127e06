import { inputTokensOf, type Usage, type UsageLimits } from '#domain/pricing/usage.ts'
import type { CountableText } from '#relay/canonical/answer-text-for-token-count.ts'
import { objectOrEmpty } from '#relay/canonical/json-values.ts'
import {
  TOKENS_MAX,
  type UsageBounds,
  type UsageReport,
} from '#relay/canonical/provider-usage-report.ts'
import { CEILING_BASE } from '#relay/dialects/openai-chat/input-token-bound.ts'
import { type ChatRequest, isDirectFormat } from '#relay/dialects/wire-format.ts'
import type { ProviderTarget } from '../providers/profiles/provider-target.ts'

/**
 * The data on which the billed usage depends, apart from the answer. It is a `Candidate` or a line
 * of a batch.
 */
export type MeteredCall = {
  readonly request: ChatRequest
  readonly channel: {
    readonly target: Pick<ProviderTarget, 'isOutputTotalLessPrompt' | 'endpoints'> | null
  }
  /** Called with the exception if the usage report can't be read. */
  readonly onUnreadable?: (err: unknown) => void
}

/** For the same text, a provider's token count may be up to this many times the gateway's count. */
const TOKENIZER_FACTOR = 3
/**
 * Output above the limit is not reported as an anomaly if it exceeds the limit by at most an eighth
 * plus this number of tokens. Calls of tools, for example, can add some tokens.
 */
const TOLERATED_OUTPUT_TOKENS = 1_024
/**
 * The number of input tokens above the request's bound that are not reported as an anomaly. A
 * provider's own system prompt, for example, can add many tokens. The input ceiling is
 * `CEILING_BASE` tokens above this bound.
 */
const TOLERATED_INPUT_TOKENS = 32_000
/**
 * If the prompt tokens in a report include the cached tokens, the gateway's own count of the input
 * is at most this many times as large as the prompt tokens.
 */
const OWN_COUNT_FACTOR = 1.5
/**
 * If the cached tokens in a report come in addition to the prompt tokens, the whole reported input
 * is at most this many times as large as the gateway's own count.
 */
const SEPARATE_CACHE_FACTOR = TOKENIZER_FACTOR + 1

/**
 * Members of a request that can cause uncountable output tokens. Some make a model reason, possibly
 * beyond the output limit. Others cause output that is charged although the answer does not show
 * it. The gateway also has no reliable count for audio and images.
 */
const HIDDEN_OUTPUT: ReadonlySet<string> = new Set([
  ...['reasoning', 'reasoning_effort', 'thinking', 'enable_thinking', 'thinking_budget'],
  ...['chat_template_kwargs', 'extra_body', 'prediction', 'modalities'],
])

/**
 * Matches models that reason. Also matches models that work in several steps and show only the
 * result of the last step.
 */
const MODELS_WITH_HIDDEN_OUTPUT =
  /reason|think|research|search|agent|compound|sonar|online|(?:^|[-/])(?:o\d|r1|qwq)/i

/**
 * Returns the output limit that was sent, as the sum over all choices; null if none was sent, or
 * for a direct format (a format that is never converted).
 */
const sentLimit = ({ request }: MeteredCall, { outputTokens }: UsageLimits): number | null =>
  request.outputTokensMax === null || isDirectFormat(request.format.name) ? null : outputTokens

/**
 * Returns the highest reported number of output tokens that is plausible if the output limit or the
 * gateway's own count is `tokens`.
 */
const plausibleOutputMax = (tokens: number): number =>
  tokens + Math.ceil(tokens / 8) + TOLERATED_OUTPUT_TOKENS

/** Reports whether the output is well above the limit that was sent. */
const exceedsLimit = (report: UsageReport, call: MeteredCall, limits: UsageLimits): boolean => {
  const limit = sentLimit(call, limits)
  return limit !== null && report.usage.output > plausibleOutputMax(limit)
}

/** Reports whether a report must be compared with the gateway's own count. */
export const isDoubtful = (report: UsageReport, call: MeteredCall, limits: UsageLimits): boolean =>
  report.otherInterpretation !== null || exceedsLimit(report, call, limits)

/**
 * Resolves doubtful counts of a report by the gateway's own count. An output well above the limit
 * gets the anomaly `implausible`, unless the report already has an anomaly. `read` reads the report
 * again with a lower ceiling for the output.
 */
export function resolveDoubts(
  report: UsageReport,
  evidence: UsageEvidence,
  read: (outputCeiling: number) => UsageReport,
): UsageReport {
  const { call, limits, counted } = evidence
  if (!exceedsLimit(report, call, limits)) return resolveCache(report, call, counted)
  const ceiling = ceilingByCount(report, evidence)
  const bounded = resolveCache(ceiling === null ? report : read(ceiling), call, counted)
  return { ...bounded, anomaly: bounded.anomaly ?? 'implausible' }
}

/**
 * Decides whether the cached tokens in a report come in addition to the prompt tokens or are
 * included in them. They come in addition if the prompt tokens alone are too few for the gateway's
 * own count of the request. In this case, the usage with included cached tokens becomes
 * `otherInterpretation`. For a text request, the gateway's count also limits the cached tokens.
 */
export function resolveCache(
  report: UsageReport,
  { request }: Pick<MeteredCall, 'request'>,
  counted: Usage,
): UsageReport {
  const { usage, otherInterpretation } = report
  if (otherInterpretation === null) return report
  const own = inputTokensOf(counted)
  if (own <= inputTokensOf(usage) * OWN_COUNT_FACTOR)
    return { ...report, otherInterpretation: null }
  const most = request.inputBound.isText ? own * SEPARATE_CACHE_FACTOR : TOKENS_MAX
  return {
    ...report,
    usage: withCacheWithin(otherInterpretation, most),
    otherInterpretation: usage,
  }
}

type Answer = { readonly rawUsage: unknown; readonly readText: () => CountableText }

type UsageEvidence = {
  readonly delivery: Answer
  readonly call: MeteredCall
  readonly limits: UsageLimits
  /** The gateway's own count. */
  readonly counted: Usage
}

/**
 * Returns the highest plausible number of output tokens for a report above the output limit. This
 * number follows from the limit or from the gateway's own count, whichever allows more. Returns
 * null if the answer may have hidden output.
 */
function ceilingByCount(
  report: UsageReport,
  { delivery, call, limits, counted }: UsageEvidence,
): number | null {
  if (mayHideOutput(report, delivery, call)) return null
  const limit = sentLimit(call, limits) ?? 0
  return plausibleOutputMax(Math.max(limit, counted.output * TOKENIZER_FACTOR))
}

/**
 * Reports whether an answer may have hidden output: output tokens that neither its text nor its
 * output limit accounts for. Such output comes from reasoning, the provider's tools, audio or
 * images. Hidden output is also assumed if the relay translates the chat for a provider's
 * application, because applications get no output limit.
 */
function mayHideOutput(
  { usage }: UsageReport,
  { rawUsage, readText }: Answer,
  { request, channel }: MeteredCall,
): boolean {
  const { members, tools, toolLimits, reasoningEffort, model } = request
  const { target } = channel
  if (
    reportsReasoning(rawUsage) ||
    reasoningEffort !== null ||
    MODELS_WITH_HIDDEN_OUTPUT.test(model)
  )
    return true
  if (target?.isOutputTotalLessPrompt) return true
  if (target?.endpoints.some(({ translation }) => translation !== undefined)) return true
  if (toolLimits !== undefined || tools.some(({ isProviderTool }) => isProviderTool)) return true
  if (members.some(({ folded }) => HIDDEN_OUTPUT.has(folded))) return true
  if (usage.outputAudio > 0 || (usage.outputImage ?? 0) > 0) return true
  const { tokens, images = 0 } = readText()
  return tokens > 0 || images > 0
}

/**
 * Reports whether a usage report counts reasoning, or work in addition to the answer, such as a
 * compaction.
 */
function reportsReasoning(rawUsage: unknown): boolean {
  const usage = objectOrEmpty(rawUsage)
  const counts = [
    objectOrEmpty(usage.completion_tokens_details).reasoning_tokens,
    objectOrEmpty(usage.output_tokens_details).reasoning_tokens,
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

/** Reports whether a usage report contains far more input tokens than the request can explain. */
export const isInputImplausible = (
  { usage }: UsageReport,
  { request }: Pick<MeteredCall, 'request'>,
  { inputCeiling }: UsageBounds,
): boolean =>
  inputCeiling < TOKENS_MAX &&
  !isDirectFormat(request.format.name) &&
  inputTokensOf(usage) > inputCeiling - CEILING_BASE + TOLERATED_INPUT_TOKENS
