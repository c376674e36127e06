import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'

/** What a provider said it used: numbers that can be billed, or why they can't be true. */
export type UsageReport =
  /** `anomaly`: parts of the whole, or counts beyond their ceilings, were cut to these. */
  | {
      readonly isTrusted: true
      readonly usage: Usage
      readonly anomaly: 'parts-exceed-whole' | 'absurd' | null
    }
  | { readonly isTrusted: false; readonly anomaly: UsageAnomaly }

export type UsageAnomaly = 'negative' | 'fraction' | 'not-a-number' | 'absurd' | 'missing'

/** More than this is not charged for, however large the provider's counts are. */
export type UsageBounds = {
  readonly inputCeiling: number
  readonly outputCeiling: number
}

/** Beyond this no count is true, whatever the request: it says nothing of what was used. */
const TOKENS_MAX = 10_000_000

/** Providers may count reasoning beside the limit that they were given. */
export const outputCeiling = (outputTokensMax: number): number =>
  Math.min(TOKENS_MAX, outputTokensMax * 2 + 100_000)

/**
 * OpenAI's chat usage, normalised: `prompt_tokens` includes cached, audio and image tokens,
 * `completion_tokens` includes reasoning and audio. An explicit zero is a zero. The cache counts of
 * DeepSeek (`prompt_cache_hit_tokens`) and Zhipu (`cached_tokens`) are read where OpenAI's is not.
 * A count beyond its ceiling stands for the ceiling, so that an anomaly makes no call cheaper.
 */
export function readOpenAiUsage(
  raw: unknown,
  bounds: UsageBounds,
  isOutputTotalLessPrompt = false,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) return { isTrusted: false, anomaly: 'missing' }
  const counts = new Counts()
  const usage = raw as Record<string, unknown>
  const outputMost = bounds.outputCeiling
  const prompt = counts.required(usage.prompt_tokens, Math.min(TOKENS_MAX, bounds.inputCeiling))
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
    anomaly: counts.isCut ? 'absurd' : isCut ? 'parts-exceed-whole' : null,
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
  /** A count was beyond its ceiling. */
  isCut = false

  required(value: unknown, most: number): number {
    if (value !== undefined && value !== null) return this.count(value, most)
    this.anomaly ??= 'missing'
    return 0
  }

  optional(value: unknown, most = TOKENS_MAX): number {
    return value === undefined || value === null ? 0 : this.count(value, most)
  }

  private count(value: unknown, most: number): number {
    const anomaly = faultOf(value)
    if (anomaly === null) {
      const count = value as number
      this.isCut ||= count > most
      return Math.min(count, most)
    }
    this.anomaly ??= anomaly
    return 0
  }
}

function faultOf(value: unknown): UsageAnomaly | null {
  if (typeof value !== 'number' || Number.isNaN(value)) return 'not-a-number'
  if (value < 0) return 'negative'
  if (value > TOKENS_MAX) return 'absurd'
  return Number.isInteger(value) ? null : 'fraction'
}
