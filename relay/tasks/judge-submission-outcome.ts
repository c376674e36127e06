import { outcomeOf } from '#relay/channel-health/attempt-outcome.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import { accountErrorOf } from '#relay/pipeline/detect-provider-account-error.ts'
import { isContentRejected } from '#relay/pipeline/detect-refused-content-and-missing-models.ts'
import type { SubmitAnswer } from './read-provider-task-answers.ts'

/**
 * The end of an attempt to submit a task. `answer` is the provider's answer, or null if none was
 * read.
 */
export type SubmissionEnd = { readonly end: AttemptEnd; readonly answer: SubmitAnswer | null }

/**
 * The HTTP status that means the same as each cause of a refusal. Vendors send other statuses, such
 * as 200 or 400 for an account in arrears.
 */
const STATUS_OF_CAUSE = { key: 401, account: 402, model: 404, limit: 429, provider: 500 } as const

/**
 * Determines the outcome of a submission from the provider's response. If the cause of a refusal is
 * not the request, the attempt fails with the status in `STATUS_OF_CAUSE`, regardless of the status
 * of the response (for exceptions, see `readFailed`). Another channel can then be tried, and the
 * refusal counts for the channel's health. A response that is neither an acceptance nor a refusal
 * with a code fails with the error `format`.
 */
export function judgeSubmission(
  end: AttemptEnd,
  read: (body: Buffer) => SubmitAnswer,
): SubmissionEnd {
  if (end.kind === 'streamed') return { end, answer: null }
  if (end.kind === 'failed') return readFailed(end, read)
  const answer = read(end.body)
  if (answer.isAccepted) return { end, answer }
  const failed = { kind: 'failed', body: end.body, retryAfterMs: 0 } as const
  if (answer.cause !== 'request') {
    return { end: { ...failed, status: STATUS_OF_CAUSE[answer.cause], error: 'status' }, answer }
  }
  if (answer.code !== null) return { end, answer }
  return { end: { ...failed, status: end.status, error: 'format' }, answer: null }
}

/** The statuses with which a provider refuses a key: it is not valid, or lacks a permission. */
const KEY_STATUSES = new Set([401, 403])

/**
 * Reads a failed attempt. Only a response with a status from 400 to 499 is searched for a refusal.
 * Its status is kept if the request or the provider is at fault, because the status then says more
 * than the code. A status in `KEY_STATUSES` is also kept if the code blames the account, because
 * the cause is then often a missing permission. The status 402 would suggest that the operator tops
 * up the account, which would not help. With the kept status, the refusal counts towards disabling
 * the key.
 */
function readFailed(
  end: Extract<AttemptEnd, { readonly kind: 'failed' }>,
  read: (body: Buffer) => SubmitAnswer,
): SubmissionEnd {
  const { error, status } = end
  const isRead = error === 'status' && status !== null && status >= 400 && status < 500
  const answer = isRead ? read(end.body) : null
  if (answer === null || answer.isAccepted) return { end, answer: null }
  const { cause } = answer
  if (cause === 'request' || cause === 'provider') return { end, answer: null }
  if (cause === 'account' && KEY_STATUSES.has(status ?? 0)) return { end, answer }
  return { end: { ...end, status: STATUS_OF_CAUSE[cause] }, answer }
}

/**
 * The HTTP statuses that prove that a provider refused a task: the key was rejected, the model is
 * not offered, a limit was reached or the service is unavailable. The statuses from 521 mean that a
 * reverse proxy could not connect to the provider.
 */
const CERTAIN_REFUSALS = new Set([401, 402, 403, 404, 429, 503, 521, 523, 525, 526])

/**
 * Reports whether the provider has definitely refused the task for a cause that another channel may
 * not have, so that another channel may be tried.
 */
export function isCertainlyRefused({ end, answer }: SubmissionEnd): boolean {
  if (end.kind !== 'failed') return false
  if (end.error === 'connect') return true
  if (end.error !== 'status') return false
  // A prompt that one provider has refused is not passed on to others.
  if (isContentRejected(end)) return false
  const isModels = answer?.isAccepted === false && answer.cause === 'model'
  // A provider or proxy that fails may have accepted the task, regardless of the code in its
  // answer.
  const isAccounts = (end.status ?? 0) < 500 && accountErrorOf(end) !== null
  return isModels || CERTAIN_REFUSALS.has(end.status ?? 0) || isAccounts
}

/** Reports whether a failure concerns the key or its account, so that another key may succeed. */
export function isKeyFault({ end, answer }: SubmissionEnd): boolean {
  if (answer?.isAccepted === false && answer.cause === 'account') return true
  const outcome = outcomeOf(end)
  return typeof outcome === 'object' && outcome.blame === 'key'
}

/** The HTTP statuses of a reverse proxy that has stopped waiting for the provider's response. */
const PROXY_TIMEOUTS = new Set([408, 504, 520, 524])

/**
 * The maximum time, in milliseconds, within which the status 502 means that a reverse proxy could
 * not connect to the provider. If the status arrives later, the provider may have accepted the
 * task.
 */
const FAST_MS = 1_000

/** Reports whether a provider may have accepted a task, although it sent no readable response. */
export function mayBeAccepted({
  end,
  latencyMs,
}: Pick<SubmissionEnd, 'end'> & { readonly latencyMs: number }): boolean {
  if (end.kind !== 'failed') return false
  if (end.error !== 'status') return end.error !== 'connect'
  const status = end.status ?? 0
  return PROXY_TIMEOUTS.has(status) || (status === 502 && latencyMs > FAST_MS)
}
