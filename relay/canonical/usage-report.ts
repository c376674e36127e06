import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'

/** How much of what a provider said it used can be billed. */
export type UsageReport = {
  /** Every count that can be read, cut to its ceiling; a count that can't be read is 0. */
  readonly usage: Usage
  /** All of it is as the provider said, but for parts that were cut to their whole. */
  readonly isTrusted: boolean
  readonly anomaly: UsageAnomaly | null
}

export type UsageAnomaly =
  | 'negative'
  | 'fraction'
  | 'not-a-number'
  | 'absurd'
  | 'missing'
  | 'parts-exceed-whole'

/** More than this is not charged for, however large the provider's counts are. */
export type UsageBounds = {
  readonly inputCeiling: number
  readonly outputCeiling: number
}

/** Beyond this no count is true, whatever the request. */
export const TOKENS_MAX = 10_000_000

/** Providers may count reasoning beside the limit that they were given. */
export const outputCeiling = (outputTokensMax: number): number =>
  Math.min(TOKENS_MAX, outputTokensMax * 2 + 100_000)

/**
 * OpenAI's chat usage, normalised: `prompt_tokens` includes cached, audio and image tokens,
 * `completion_tokens` includes reasoning and audio. An explicit zero is a zero. The cache counts of
 * DeepSeek (`prompt_cache_hit_tokens`) and Zhipu (`cached_tokens`) are read where OpenAI's is not.
 * An anomaly makes no call cheaper: a count beyond its ceiling stands for the ceiling, a fraction
 * is rounded up, digits in a text are read, and no cache count lowers the price where it can't be
 * true or the prompt was cut. Where the report is not trusted, `meter` takes the larger of it and
 * the gateway's own count.
 */
export function readOpenAiUsage(
  raw: unknown,
  bounds: UsageBounds,
  isOutputTotalLessPrompt = false,
): UsageReport {
  if (typeof raw !== 'object' || raw === null) {
    return { usage: NO_USAGE, isTrusted: false, anomaly: 'missing' }
  }
  const counts = new Counts()
  const usage = raw as Record<string, unknown>
  const outputMost = bounds.outputCeiling
  const inputMost = Math.min(TOKENS_MAX, bounds.inputCeiling)
  const prompt = counts.required(usage.prompt_tokens, inputMost)
  const completion = counts.required(usage.completion_tokens, outputMost)
  const input = recordOf(usage.prompt_tokens_details)
  const output = recordOf(usage.completion_tokens_details)
  const cachedBy = input.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens
  const cached = prompt === usage.prompt_tokens ? counts.discount(cachedBy) : 0
  const written = counts.optional(input.cache_write_tokens)
  const audio = counts.optional(input.audio_tokens)
  const image = counts.optional(input.image_tokens)
  const thought = counts.optional(output.reasoning_tokens)
  const spoken = counts.optional(output.audio_tokens)
  const total = isOutputTotalLessPrompt
    ? counts.optional(usage.total_tokens, prompt + outputMost)
    : 0
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
    usage: { ...NO_USAGE, ...parts, output: whole },
    isTrusted: counts.anomaly === null,
    anomaly: counts.anomaly ?? (isCut ? 'parts-exceed-whole' : null),
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

  /** A count that lowers the price: 0 unless it can be true. */
  discount(value: unknown): number {
    const count = this.optional(value)
    return count === value ? count : 0
  }

  private count(value: unknown, most: number): number {
    const fault = faultOf(value, most)
    if (fault === null) return value as number
    this.anomaly ??= fault
    const count = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value
    return typeof count === 'number' ? Math.min(Math.ceil(Math.max(count, 0)), most) : 0
  }
}

const DIGITS = /^\d{1,16}$/

function faultOf(value: unknown, most: number): UsageAnomaly | null {
  if (typeof value !== 'number' || Number.isNaN(value)) return 'not-a-number'
  if (value < 0) return 'negative'
  if (value > most) return 'absurd'
  return Number.isInteger(value) ? null : 'fraction'
}
