import { costFor } from '#domain/pricing/charge.ts'
import type { Usage } from '#domain/pricing/usage.ts'
import { QUOTA_PER_DOLLAR, type Quota } from '#domain/shared/quota.ts'
import {
  type AnswerMismatch,
  findAnswerMismatch,
  reportedCost,
} from '#relay/canonical/check-answered-model-and-cost.ts'
import { isByDeployment } from '../providers/profiles/provider-target.ts'
import type { Delivery } from './billed-usage.ts'
import type { OutputHoldTracker } from './output-hold-tracker.ts'
import type { Candidate } from './prepare-request-for-channel.ts'

/**
 * Returns a mismatch if the answer names a model other than the one in the request to the provider,
 * or if the provider reports a much higher cost than the price list gives. Returns null if there is
 * no mismatch, and also if the model is called by the name of a deployment.
 */
export function mismatchIn(
  { rawUsage, answeredModel: answered }: Delivery,
  { channel, request, upstreamModel }: Candidate,
  usage: Usage,
  { price }: OutputHoldTracker,
): AnswerMismatch | null {
  // The name of a deployment does not tell which model it runs, so the models can't be compared.
  if (channel.target !== null && isByDeployment(channel.target)) return null
  const { costRatio = '1' } = channel.terms
  return findAnswerMismatch(
    { sent: upstreamModel ?? request.model, answered },
    reportedCost(rawUsage),
    () => dollarsOf(costFor(price, usage, request.choices, costRatio)),
  )
}

const dollarsOf = (quota: Quota): number => Number(quota) / Number(QUOTA_PER_DOLLAR)
