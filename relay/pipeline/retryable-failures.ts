import { isTooLargeByRequest, NOT_PROVIDER_ERRORS } from '../channel-health/attempt-outcome.ts'
import type { AttemptEnd } from './attempt-end-types.ts'
import { accountErrorOf } from './detect-provider-account-error.ts'
import { isContentRejected, isModelMissing } from './detect-refused-content-and-missing-models.ts'

/**
 * Reports whether another channel may be tried after a failed attempt, for example because the
 * provider failed, was at its limit or rejected the key. After a timeout of a plain answer (not a
 * stream), or of a stream that has begun, no other channel may be tried: the provider may still be
 * working on the answer, and charges for it. The same applies to a stream that has reported its
 * usage, because the provider has completed the answer.
 */
export function isRetryable(
  end: Extract<AttemptEnd, { readonly kind: 'failed' }>,
  isStream: boolean,
): boolean {
  const { error, status, isDispatched, hasBegun, hasReportedUsage } = end
  // The gateway, the caller or the prompt caused the end, so another channel would not help.
  if (NOT_PROVIDER_ERRORS.has(error) || error === 'blocked' || isTooLargeByRequest(end))
    return false
  // A prompt that one provider has refused is not passed on to others.
  if (isContentRejected(end)) return false
  // The provider charges for the long answer, and others may ignore the output limit as well.
  if (error === 'over-limit') return false
  const mayBeAnswered = hasBegun === true || (isDispatched === true && !isStream)
  if (error === 'timeout' && mayBeAnswered) return false
  if (error === 'cut' && hasReportedUsage === true) return false
  if (error !== 'status' || status === null) return true
  if (status >= 500 || (status >= 300 && status <= 399)) return true
  // A 404 means that the provider does not offer the model, but another provider may offer it. Some
  // providers use status 400 for this (see `isModelMissing`), for an invalid key (Google) or for an
  // account in arrears (DashScope).
  if ([401, 402, 403, 404, 408, 409, 429].includes(status)) return true
  return accountErrorOf(end) !== null || isModelMissing(end)
}
