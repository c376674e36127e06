import { NO_USAGE, type Usage } from './usage.ts'

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
