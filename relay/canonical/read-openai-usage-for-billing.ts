import { imageUsage, NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import type { UsageContext } from '#relay/dialects/wire-format.ts'
import { countLongWritesAsOneHour } from './count-cache-writes-as-one-hour.ts'
import { type JsonObject, numericOf, objectOrEmpty } from './json-values.ts'
import {
  Counts,
  RemainingTokens,
  TOKENS_MAX,
  type UsageBounds,
  type UsageReport,
} from './provider-usage-report.ts'
import { cacheWritesOf, isPlaceholder, withTokensBeside } from './tokens-beside-openai-counts.ts'

/**
 * Reads OpenAI's chat usage, whose totals include cached, audio, image and reasoning tokens. If
 * OpenAI's cache count is missing, the counts of DeepSeek (`prompt_cache_hit_tokens`) and Zhipu
 * (`cached_tokens`) are read instead. See `withTokensBeside` for tokens beside the totals. If
 * `isOutputTotalLessPrompt` is true, the output count is at least the total less the prompt count.
 */
export function readOpenAiUsage(
  raw: unknown,
  bounds: UsageBounds,
  isOutputTotalLessPrompt = false,
): UsageReport {
  if (typeof raw !== 'object' || raw === null || isPlaceholder(raw as JsonObject)) {
    return { usage: NO_USAGE, otherInterpretation: null, isTrusted: false, anomaly: 'missing' }
  }
  const counts = new Counts()
  const reported = withTokensBeside(raw as JsonObject)
  const outputMost = bounds.outputCeiling
  const inputMost = Math.min(TOKENS_MAX, bounds.inputCeiling)
  const prompt = counts.required(reported.prompt_tokens, inputMost)
  const completion = counts.required(reported.completion_tokens, outputMost)
  const input = objectOrEmpty(reported.prompt_tokens_details)
  const output = objectOrEmpty(reported.completion_tokens_details)
  const cachedBy = input.cached_tokens ?? reported.prompt_cache_hit_tokens ?? reported.cached_tokens
  const cached = counts.optional(cachedBy)
  const cacheWritten = counts.optional(cacheWritesOf(input))
  const audio = counts.optional(input.audio_tokens)
  const image = counts.optional(input.image_tokens)
  const reasoning = counts.optional(output.reasoning_tokens)
  const outputAudio = counts.optional(output.audio_tokens)
  const outputImage = counts.optional(output.image_tokens)
  const total = isOutputTotalLessPrompt
    ? counts.optional(reported.total_tokens, prompt + outputMost)
    : 0
  // A prompt count above its ceiling is not subtracted from the total tokens, because an absurd
  // prompt count would hide the output.
  const isPromptCut = numericOf(reported.prompt_tokens) > inputMost
  const hidden = Math.min(outputMost, isPromptCut ? total : total - prompt)
  const whole = Math.max(completion, hidden)
  // Cached tokens cost less, so they are ignored in a report with an invalid count. If cache reads
  // and writes together exceed the prompt count, their sum is reduced to the prompt count, and the
  // cheaper reads are reduced first.
  const isTrusted = counts.anomaly === null
  const isCacheWithin = cached + cacheWritten <= prompt
  const rest = new RemainingTokens(prompt)
  // The parts may exceed the prompt, because a cached token may also be counted as audio or image.
  // Cached tokens are therefore taken first. The other parts follow, the most expensive first.
  const within = {
    cacheRead: rest.take(isTrusted ? Math.min(cached, Math.max(0, prompt - cacheWritten)) : 0),
    inputAudio: rest.take(audio),
    inputImage: rest.take(image),
    cacheWrite5m: rest.take(cacheWritten),
    inputUncached: rest.left,
  }
  const answer = answerOf(whole, reasoning, outputAudio, outputImage)
  const inclusive = { ...NO_USAGE, ...within, ...answer }
  const isCut =
    cached + cacheWritten + audio + image > prompt ||
    reasoning > whole ||
    outputAudio + outputImage > whole
  const anomaly = counts.anomaly ?? (isCut ? 'parts-exceed-whole' : null)
  const report = { usage: inclusive, otherInterpretation: null, isTrusted, anomaly }
  if (isCacheWithin) return report
  const parts = { prompt, cached, cacheWritten, audio, image }
  return { ...report, otherInterpretation: withCacheBeside(inclusive, parts, inputMost) }
}

type AnswerUsage = Pick<Usage, 'output' | 'reasoning' | 'outputAudio' | 'outputImage'>

/**
 * Limits the parts of an answer to the answer's total `output`. Reasoning tokens are limited
 * separately, because they may also be counted as audio or image tokens.
 */
function answerOf(output: number, reasoning: number, audio: number, image: number): AnswerUsage {
  const rest = new RemainingTokens(output)
  return {
    ...{ output, reasoning: Math.min(reasoning, output) },
    outputAudio: rest.take(audio),
    ...imageUsage(rest.take(image)),
  }
}

type PromptCounts = Readonly<
  Record<'prompt' | 'cached' | 'cacheWritten' | 'audio' | 'image', number>
>

/**
 * Returns the usage under the assumption that the prompt count excludes the cached tokens, as at
 * Anthropic. The cached tokens are added to the prompt count.
 */
function withCacheBeside(
  inclusive: Usage,
  { prompt, cached, cacheWritten, audio, image }: PromptCounts,
  inputMost: number,
): Usage {
  const rest = new RemainingTokens(prompt)
  const room = new RemainingTokens(inputMost - prompt)
  return {
    ...inclusive,
    inputAudio: rest.take(audio),
    inputImage: rest.take(image),
    inputUncached: rest.left,
    cacheWrite5m: room.take(cacheWritten),
    cacheRead: room.take(cached),
  }
}

/**
 * Reads the usage of OpenAI's Responses API. This usage has the same counts as that of chat
 * completions, but other names for them.
 */
export function readResponsesUsage(
  raw: unknown,
  { isOutputTotalLessPrompt, body, ...bounds }: UsageContext,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) return readOpenAiUsage(raw, bounds)
  const reported = raw as Record<string, unknown>
  const details = objectOrEmpty(reported.input_tokens_details)
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
  return countLongWritesAsOneHour(report, details, body)
}
