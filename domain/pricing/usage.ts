/**
 * What one attempt used, in the units that are priced, whatever the provider's format. All whole,
 * 0 or more. `output` includes `reasoning` and `outputAudio`; the inputs are disjoint.
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

/** Where the numbers came from: the provider, our own count, or what was seen before a cut. */
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

/** The most tokens that are to be charged for; the output is that of all choices. */
export type TokenLimits = { readonly inputTokens: number; readonly outputTokens: number }

/**
 * The part of `usage` that lies within `limits`; `usage` itself when all of it does. A call whose
 * hold covers the limits never costs more than its hold for that part, whatever the tokens are.
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

/** All input tokens, however they are priced. */
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

  take(wanted: number): number {
    const taken = Math.min(wanted, this.left)
    this.left -= taken
    return taken
  }
}
