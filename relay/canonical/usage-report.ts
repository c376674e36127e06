import type { Usage } from '#domain/pricing/usage.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'

/** What a provider said it used: numbers that can be billed, or why they can't be true. */
export type UsageReport =
  /** `anomaly`: parts of the whole were cut to it. */
  | {
      readonly isTrusted: true
      readonly usage: Usage
      readonly anomaly: 'parts-exceed-whole' | null
    }
  | { readonly isTrusted: false; readonly anomaly: UsageAnomaly }

export type UsageAnomaly = 'negative' | 'fraction' | 'not-a-number' | 'absurd' | 'missing'

export type UsageBounds = {
  readonly inputTokensMax: number
  readonly outputTokensMax: number
}

/** Beyond this no count is true, whatever the request. */
const TOKENS_MAX = 10_000_000

/**
 * A provider may see more than the caller sent (its own system prompt, a tokenizer of its own,
 * images), so a count is absurd only well beyond our own bound.
 */
const inputCeiling = (bounds: UsageBounds): number =>
  Math.min(TOKENS_MAX, bounds.inputTokensMax * 2 + 100_000)

const outputCeiling = (bounds: UsageBounds): number =>
  Math.min(TOKENS_MAX, bounds.outputTokensMax * 2 + 100_000)

/**
 * OpenAI's chat usage, normalised: `prompt_tokens` includes cached, audio and image tokens,
 * `completion_tokens` includes reasoning and audio. An explicit zero is a zero. The cache counts of
 * DeepSeek (`prompt_cache_hit_tokens`) and Zhipu (`cached_tokens`) are read where OpenAI's is not.
 */
export function readOpenAiUsage(
  raw: unknown,
  bounds: UsageBounds,
  isOutputTotalLessPrompt = false,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) return { isTrusted: false, anomaly: 'missing' }
  const counts = new Counts()
  const usage = raw as Record<string, unknown>
  const outputMost = outputCeiling(bounds)
  const prompt = counts.required(usage.prompt_tokens, inputCeiling(bounds))
  const completion = counts.required(usage.completion_tokens, outputMost)
  const input = recordOf(usage.prompt_tokens_details)
  const output = recordOf(usage.completion_tokens_details)
  const cachedBy = input.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens
  const cached = counts.optional(cachedBy)
  const written = counts.optional(input.cache_write_tokens)
  const audio = counts.optional(input.audio_tokens)
  const image = counts.optional(input.image_tokens)
  const thought = counts.optional(output.reasoning_tokens)
  const spoken = counts.optional(output.audio_tokens)
  const total = isOutputTotalLessPrompt
    ? counts.optional(usage.total_tokens, prompt + outputMost)
    : 0
  if (counts.anomaly !== null) return { isTrusted: false, anomaly: counts.anomaly }
  const whole = Math.max(completion, total - prompt)
  // What costs the caller least comes first: where parts overlap, it is the dear ones that give.
  const rest = new Whole(prompt)
  const parts = {
    cacheRead: rest.take(cached),
    cacheWrite5m: rest.take(written),
    inputAudio: rest.take(audio),
    inputImage: rest.take(image),
    inputUncached: rest.left,
    reasoning: Math.min(thought, whole),
    outputAudio: Math.min(spoken, whole),
  }
  const isCut = cached + written + audio + image > prompt || thought > whole || spoken > whole
  return {
    isTrusted: true,
    usage: { ...NO_USAGE, ...parts, output: whole },
    anomaly: isCut ? 'parts-exceed-whole' : null,
  }
}

/** A count that its parts are taken from, until nothing is left. */
class Whole {
  left: number

  constructor(count: number) {
    this.left = count
  }

  take(part: number): number {
    const taken = Math.min(part, this.left)
    this.left -= taken
    return taken
  }
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** Reads counts and remembers the first thing wrong with any of them. */
class Counts {
  anomaly: UsageAnomaly | null = null

  required(value: unknown, most: number): number {
    if (value !== undefined && value !== null) return this.count(value, most)
    this.anomaly ??= 'missing'
    return 0
  }

  optional(value: unknown, most = TOKENS_MAX): number {
    return value === undefined || value === null ? 0 : this.count(value, most)
  }

  private count(value: unknown, most: number): number {
    const anomaly = faultOf(value, most)
    if (anomaly === null) return value as number
    this.anomaly ??= anomaly
    return 0
  }
}

function faultOf(value: unknown, most: number): UsageAnomaly | null {
  if (typeof value !== 'number' || Number.isNaN(value)) return 'not-a-number'
  if (value < 0) return 'negative'
  if (value > most) return 'absurd'
  return Number.isInteger(value) ? null : 'fraction'
}
