import { NO_USAGE, type Usage, type UsageSource } from '#domain/pricing/usage.ts'
import type { Said } from '#relay/canonical/delivered-text.ts'
import type { TokenCounter } from '#relay/canonical/token-counter.ts'
import { readOpenAiUsage, type UsageBounds } from '#relay/canonical/usage-report.ts'
import { OUTPUT_TOKENS_MAX } from '#relay/dialects/openai-chat/chat-request.ts'
import type { Candidate } from './plan-call.ts'

/** What came of a call, as far as it can be billed. */
export type Delivery = {
  /** The provider's usage as sent; undefined when none came. */
  readonly rawUsage: unknown
  /** What was delivered, read only when it must be counted. */
  readonly readText: () => Said
  readonly isWhole: boolean
  /** False when the provider broke it off: the input is then its loss. */
  readonly chargesInput: boolean
}

export type Metered = {
  readonly usage: Usage
  readonly usageSource: UsageSource
  readonly anomaly: string | null
}

/** The provider's numbers when they can be true; else what we count ourselves. */
export async function meter(
  delivery: Delivery,
  candidate: Candidate,
  counter: TokenCounter,
): Promise<Metered> {
  const { rawUsage } = delivery
  if (rawUsage === undefined || rawUsage === null) return ownCount(delivery, candidate, counter)
  const isTotalLessPrompt = candidate.channel.target?.isOutputTotalLessPrompt ?? false
  const report = readOpenAiUsage(rawUsage, boundsOf(candidate), isTotalLessPrompt)
  if (report.isTrusted) {
    return { usage: report.usage, usageSource: 'upstream', anomaly: report.anomaly }
  }
  const counted = await ownCount(delivery, candidate, counter)
  return { ...counted, anomaly: report.anomaly }
}

async function ownCount(
  { readText, isWhole, chargesInput }: Delivery,
  { request }: Candidate,
  counter: TokenCounter,
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

const boundsOf = ({ request }: Candidate): UsageBounds => ({
  inputTokensMax: request.inputTokensMax,
  outputTokensMax: (request.outputTokensMax ?? OUTPUT_TOKENS_MAX) * request.choices,
})
