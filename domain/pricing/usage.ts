/**
 * The usage of one call in the units that have a price. Counts are integers of 0 or more. `output`
 * includes `reasoning` and `outputAudio`. Each input token is counted in exactly one of the input
 * counts.
 */
export type Usage = {
  readonly inputUncached: number
  readonly cacheRead: number
  readonly cacheWrite5m: number
  readonly cacheWrite1h: number
  readonly inputAudio: number
  readonly inputImage: number
  readonly output: number
  readonly reasoning: number
  readonly outputAudio: number
  readonly toolCalls: number
  readonly images: number
  readonly seconds: number
  readonly characters: number
  readonly searchUnits: number
}

/**
 * `upstream`: reported by the provider. `estimated`: counted by the gateway. `partial`: counted
 * only for the part received before the answer was cut.
 */
export type UsageSource = 'upstream' | 'estimated' | 'partial'

export const NO_USAGE: Usage = Object.freeze({
  inputUncached: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  inputAudio: 0,
  inputImage: 0,
  output: 0,
  reasoning: 0,
  outputAudio: 0,
  toolCalls: 0,
  images: 0,
  seconds: 0,
  characters: 0,
  searchUnits: 0,
})

/** Usage within these limits is always charged. `outputTokens` is the sum over all choices. */
export type TokenLimits = { readonly inputTokens: number; readonly outputTokens: number }

/**
 * Returns the part of `usage` within `limits`. This part never costs more than a hold that was
 * computed for the same limits.
 */
export function usageWithin(usage: Usage, { inputTokens, outputTokens }: TokenLimits): Usage {
  if (inputTokensOf(usage) <= inputTokens && usage.output <= outputTokens) return usage
  const input = new Allowance(inputTokens)
  const output = Math.min(usage.output, outputTokens)
  return {
    ...NO_USAGE,
    inputUncached: input.take(usage.inputUncached),
    cacheRead: input.take(usage.cacheRead),
    cacheWrite5m: input.take(usage.cacheWrite5m),
    cacheWrite1h: input.take(usage.cacheWrite1h),
    inputAudio: input.take(usage.inputAudio),
    inputImage: input.take(usage.inputImage),
    output,
    reasoning: Math.min(usage.reasoning, output),
    outputAudio: Math.min(usage.outputAudio, output),
  }
}

export const inputTokensOf = (usage: Usage): number =>
  usage.inputUncached +
  usage.cacheRead +
  usage.cacheWrite5m +
  usage.cacheWrite1h +
  usage.inputAudio +
  usage.inputImage

class Allowance {
  private left: number

  constructor(tokens: number) {
    this.left = tokens
  }

  take(tokens: number): number {
    const part = Math.min(tokens, this.left)
    this.left -= part
    return part
  }
}
