import type { UsageLimits } from '#domain/pricing/usage.ts'
import { textOfAnswer } from '#relay/canonical/answer-text-for-token-count.ts'
import { answeredModelIn } from '../dialects/model-name-in-answer.ts'
import { serviceTierIn } from '../dialects/price-conditions-of-call.ts'
import type { AnswerForwarder } from './answer-forwarder-types.ts'
import type { Delivery } from './billed-usage.ts'
import { readTextsOf } from './log-unreadable-answer.ts'
import type { Candidate } from './prepare-request-for-channel.ts'

type AnsweringCandidate = Pick<Candidate, 'request' | 'onUnreadable'>

const NO_TEXT = { text: '', tokens: 0 } as const

/** Returns the data from which the billed usage of a plain answer is determined. */
export function deliveryOf(candidate: AnsweringCandidate, body: Buffer): Delivery {
  const { format } = candidate.request
  return {
    rawUsage: format.usageInAnswer(body),
    answeredModel: answeredModelIn(format, body),
    readServiceTier: () => serviceTierIn(body),
    readText: () =>
      format.hasTextlessAnswers ? NO_TEXT : textOfAnswer(body, readTextsOf(candidate)),
    isComplete: true,
    chargesInput: true,
  }
}

/**
 * Returns the data from which the billed usage of a stream is determined. `forwarder` is null if no
 * stream has begun.
 */
export const deliveryOfStream = (
  forwarder: AnswerForwarder | null,
  { isComplete, chargesInput }: Pick<Delivery, 'isComplete' | 'chargesInput'>,
): Delivery => ({
  rawUsage: forwarder?.rawUsage,
  answeredModel: forwarder?.answeredModel,
  readServiceTier: () => forwarder?.serviceTier ?? null,
  readText: () => forwarder?.delivered.read() ?? NO_TEXT,
  isComplete,
  hasTextAfterUsage: forwarder?.hasTextAfterUsage ?? false,
  usageAnomaly: forwarder?.usageAnomaly ?? null,
  chargesInput,
})

/**
 * Returns the data from which a plain answer is billed if it was too large to be kept in memory.
 * The usage is read from the answer's last members. If they contain no usage, as many output tokens
 * as the limit `outputTokens` are billed. If the answer is too large because it repeats the request
 * (`isEchoOfRequest`), no output tokens are estimated.
 */
export function deliveryOfTail(
  candidate: AnsweringCandidate,
  tail: Buffer,
  isEchoOfRequest: boolean,
  { outputTokens }: UsageLimits,
): Delivery {
  const reported = deliveryOf(candidate, tail)
  const { rawUsage } = reported
  const isComplete = rawUsage !== undefined && rawUsage !== null
  const tokens = isComplete || isEchoOfRequest ? 0 : outputTokens
  return { ...reported, isComplete, readText: () => ({ text: '', tokens }) }
}
