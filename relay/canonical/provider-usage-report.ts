import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'

/** The billable part of the usage that a provider reported. */
export type UsageReport = {
  /** The token counts, each limited to its ceiling. A count that can't be read is 0. */
  readonly usage: Usage
  /**
   * True if every count in the provider's report is valid. Totals are billed as reported. The parts
   * of a total, such as cached tokens, may still have been reduced to fit the total.
   */
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

/** The maximum token counts that are charged, even if a provider reports more. */
export type UsageBounds = {
  readonly inputCeiling: number
  readonly outputCeiling: number
}

/** The largest plausible token count. No request of any size has more tokens. */
export const TOKENS_MAX = 10_000_000

/**
 * Returns the highest output count that is charged. The ceiling is above the output limit in the
 * request, because some providers don't count reasoning towards the limit.
 */
export const outputCeiling = (outputTokensMax: number): number =>
  Math.min(TOKENS_MAX, outputTokensMax * 2 + 100_000)

/**
 * Reads OpenAI's chat usage. `prompt_tokens` includes cached, audio and image tokens, and
 * `completion_tokens` includes reasoning and audio tokens. A reported zero is kept as zero. If
 * OpenAI's cache count is missing, the counts of DeepSeek (`prompt_cache_hit_tokens`) and Zhipu
 * (`cached_tokens`) are read.
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
  const cached = counts.discount(cachedBy)
  const cacheWritten = counts.optional(input.cache_write_tokens)
  const audio = counts.optional(input.audio_tokens)
  const image = counts.optional(input.image_tokens)
  const reasoning = counts.optional(output.reasoning_tokens)
  const outputAudio = counts.optional(output.audio_tokens)
  const total = isOutputTotalLessPrompt
    ? counts.optional(usage.total_tokens, prompt + outputMost)
    : 0
  // A prompt count beyond its ceiling would hide output if it were subtracted from the total.
  const isPromptCut = Number(usage.prompt_tokens) > inputMost
  const hidden = Math.min(outputMost, isPromptCut ? total : total - prompt)
  const whole = Math.max(completion, hidden)
  // Only a cache count that can be true lowers the price, and only in a report that can be true.
  const isTrusted = counts.anomaly === null
  const rest = new Whole(prompt)
  // If the sum of the parts exceeds the total, cached tokens are subtracted first, because they may
  // also be counted as audio or images. The remaining parts are subtracted in the order of their
  // usual price, the most expensive part first.
  const parts = {
    cacheRead: rest.take(isTrusted && cached <= prompt ? cached : 0),
    inputAudio: rest.take(audio),
    inputImage: rest.take(image),
    cacheWrite5m: rest.take(cacheWritten),
    inputUncached: rest.left,
    reasoning: Math.min(reasoning, whole),
    outputAudio: Math.min(outputAudio, whole),
  }
  const isCut =
    cached + cacheWritten + audio + image > prompt || reasoning > whole || outputAudio > whole
  return {
    usage: { ...NO_USAGE, ...parts, output: whole },
    isTrusted,
    anomaly: counts.anomaly ?? (isCut ? 'parts-exceed-whole' : null),
  }
}

/** A total from which parts are subtracted until nothing remains. */
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

/** Reads the reported counts and stores the first anomaly. */
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

  /**
   * Reads a count of tokens with a reduced price, such as cached tokens. Returns 0 if the reported
   * value is not a valid count.
   */
  discount(value: unknown): number {
    const count = this.optional(value)
    return count === value ? count : 0
  }

  private count(value: unknown, most: number): number {
    const anomaly = anomalyOf(value, most)
    if (anomaly === null) return value as number
    this.anomaly ??= anomaly
    const count = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value
    if (typeof count !== 'number' || Number.isNaN(count)) return 0
    return Math.min(Math.ceil(Math.max(count, 0)), most)
  }
}

const DIGITS = /^\d{1,16}$/

function anomalyOf(value: unknown, most: number): UsageAnomaly | null {
  if (typeof value !== 'number' || Number.isNaN(value)) return 'not-a-number'
  if (value < 0) return 'negative'
  if (value > most) return 'absurd'
  return Number.isInteger(value) ? null : 'fraction'
}
