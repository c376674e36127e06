import {
  inputTokensOf,
  NO_USAGE,
  type TokenLimits,
  type Usage,
  type UsageSource,
  usageWithin,
} from '#domain/pricing/usage.ts'
import type { CountableText } from '#relay/canonical/delivered-text.ts'
import { outputCeiling, readOpenAiUsage } from '#relay/canonical/usage-report.ts'
import type { UserTokenCounter } from '#relay/token-counts/token-counter.ts'
import type { Candidate } from './plan-call.ts'

/** The result of a call, as far as it can be billed. */
export type Delivery = {
  /** The provider's usage, as sent; undefined when there was none. */
  readonly rawUsage: unknown
  /** The answer's `model`, as sent; undefined or null when it named none. */
  readonly answeredModel: unknown
  /** The delivered text, which is read only when it must be counted. */
  readonly readText: () => CountableText
  readonly isWhole: boolean
  /** The provider's usage came before words that were delivered, and may leave them out. */
  readonly isUsageEarly?: boolean
  /** False when the provider broke it off: the input is then its loss. */
  readonly chargesInput: boolean
}

export type Metered = {
  readonly usage: Usage
  readonly usageWithinLimits?: Usage
  readonly usageSource: UsageSource
  readonly anomaly: string | null
}

/**
 * The provider's numbers for an answer that is whole, where they can be true and came at its end.
 * Otherwise the larger of those, as far as they can be read, and our own count: what comes before
 * the end is often a zero, and an anomaly makes no call cheaper. `limits` are what the call may be
 * charged for where its account can pay no more.
 */
export async function meter(
  delivery: Delivery,
  candidate: Candidate,
  counter: UserTokenCounter,
  limits: TokenLimits,
): Promise<Metered> {
  const metered = await usageOf(delivery, candidate, counter, limits)
  const within = usageWithin(metered.usage, limits)
  return within === metered.usage ? metered : { ...metered, usageWithinLimits: within }
}

async function usageOf(
  delivery: Delivery,
  candidate: Candidate,
  counter: UserTokenCounter,
  { outputTokens }: TokenLimits,
): Promise<Metered> {
  const { rawUsage, isWhole, isUsageEarly = false } = delivery
  if (rawUsage === undefined || rawUsage === null) return ownCount(delivery, candidate, counter)
  const { request, channel } = candidate
  const bounds = {
    inputCeiling: request.inputBound.ceiling,
    outputCeiling: outputCeiling(outputTokens),
  }
  const isTotalLessPrompt = channel.target?.isOutputTotalLessPrompt ?? false
  const { usage: seen, isTrusted, anomaly } = readOpenAiUsage(rawUsage, bounds, isTotalLessPrompt)
  if (isWhole && isTrusted && !isUsageEarly)
    return { usage: seen, usageSource: 'upstream', anomaly }
  const counted = await ownCount(delivery, candidate, counter)
  const usage = larger(seen, counted.usage)
  return { usage, usageSource: usage === seen ? 'upstream' : counted.usageSource, anomaly }
}

/** The usage seen, with as much input and output as was counted where that is more. */
function larger(seen: Usage, counted: Usage): Usage {
  const moreInput = inputTokensOf(counted) - inputTokensOf(seen)
  const moreOutput = counted.output - seen.output
  if (moreInput <= 0 && moreOutput <= 0) return seen
  return {
    ...seen,
    inputUncached: seen.inputUncached + Math.max(0, moreInput),
    output: seen.output + Math.max(0, moreOutput),
  }
}

async function ownCount(
  { readText, isWhole, chargesInput }: Delivery,
  { request }: Candidate,
  counter: UserTokenCounter,
): Promise<Metered> {
  const { text, tokens } = readText()
  const requestBody = chargesInput ? request.body : null
  const { input, output } = await counter.count({ requestBody, text })
  return {
    usage: { ...NO_USAGE, inputUncached: input, output: output + tokens },
    usageSource: isWhole ? 'estimated' : 'partial',
    anomaly: null,
  }
}
