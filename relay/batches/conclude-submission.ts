import type { Attempt } from '#domain/accounts/events.ts'
import { type RelayError, relayError, withStatus } from '../canonical/relay-error.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import type { KeyedCall } from '../pipeline/claim-idempotency-key.ts'
import { accountErrorOf } from '../pipeline/detect-provider-account-error.ts'
import { type Exchange, sendError, sendJson } from '../pipeline/http-exchange.ts'
import { isCertainlyRefused } from '../tasks/judge-submission-outcome.ts'
import {
  confidentialTo,
  mappedStatusOf,
  type RelayChannel,
  type RelayKey,
} from '../views/channel-view.ts'
import { mayBeSentTo } from '../views/submission-checks-and-key-retries.ts'
import type { StoredBatch } from './batch-store.ts'
import { renderDescription } from './render-batch.ts'
import type { BatchDeps } from './settle-batch.ts'

/**
 * The error for a caller if the store fails while a batch is submitted. The quota for the batch may
 * nevertheless be reserved.
 */
export const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/**
 * The error for the caller if the channel that stores the file `subject` is disabled, has no usable
 * key or has expired. No other channel can read the file.
 */
export const channelOffError = (subject: string): RelayError =>
  relayError('file_channel_off', { param: 'input_file_id', subject, retryAfter: 60 })

/**
 * Checks whether a recorded batch may be sent to its channel. Returns null if it may, `unusable` if
 * it must not be sent, and `NO_STORE` if the event store does not answer.
 */
export async function channelError(
  deps: BatchDeps,
  batch: string,
  channelId: number,
  key: RelayKey | undefined,
  unusable: RelayError,
): Promise<RelayError | null> {
  if (key === undefined) return unusable
  try {
    return (await mayBeSentTo(deps, { channelId, keyRef: key.keyRef })) ? null : unusable
  } catch (err) {
    deps.log.error({ err, call: batch }, 'the channel of a batch could not be checked')
    return NO_STORE
  }
}

export type Failed = Extract<AttemptEnd, { readonly kind: 'failed' }>

/** The status with which Anthropic refuses a request because it is overloaded. */
const OVERLOADED = 529

/**
 * Reports whether the provider has definitely not accepted the batch. Only then is the batch sent
 * to another channel, and its quota released if no channel is left. If only the provider's response
 * was lost, or if the provider failed with another 5xx status, it may have accepted the batch. The
 * quota then stays reserved until the batch counts as lost.
 */
export function isRefused(end: Failed): boolean {
  const { status, error } = end
  if (error === 'connect') return true
  if (status !== null && status >= 300 && status <= 499) return status !== 408
  if (error !== 'status') return false
  return status === OVERLOADED || isCertainlyRefused({ end, answer: null })
}

/**
 * Ends a batch that no provider accepted, and releases the quota that was reserved for it. If this
 * fails, the poller does it later. `attempt` is the submission that the provider refused, or null
 * if nothing was sent.
 */
export async function refuse(
  { ledger, batchStore, log }: BatchDeps,
  batch: string,
  keyed: KeyedCall | null,
  attempt: Attempt | null = null,
): Promise<void> {
  try {
    await ledger.end(batch, 'refused', { refused: attempt })
    await batchStore.remove(batch, null)
    await keyed?.free()
  } catch (err) {
    log.error({ err, call: batch }, 'a refused batch could not be released')
  }
}

type Accepted = Pick<StoredBatch, 'api' | 'userId'> & {
  readonly shown: object | null
  /** The members of the provider's description that callers receive. */
  readonly object: object
}

/**
 * Stores the description of a batch whose acceptance was recorded, and sends it to the caller. A
 * failure to store the description is only logged, because a caller who got an error would submit
 * the batch again and pay twice.
 */
export async function sendAccepted(
  deps: BatchDeps,
  exchange: Exchange,
  { api, userId, shown, object }: Accepted,
): Promise<void> {
  const { call: batch, startedAt: submittedAt } = exchange
  const text = JSON.stringify(object)
  try {
    await deps.batchStore.describe(batch, await deps.vault.seal(userId, text))
  } catch (err) {
    // The poller stores the description when it next asks the provider about the batch.
    deps.log.warn({ err, call: batch }, 'the description of a batch could not be stored')
  }
  const facts = { api, batch, submittedAt, isSettled: false }
  const contents = { request: shown, object: JSON.parse(text) }
  sendJson(exchange, 200, renderDescription(deps, facts, contents))
}

/** Sends the error for a submission or an upload that failed at a channel, or at none. */
export function sendFailure(
  { views }: BatchDeps,
  exchange: Exchange,
  end: Failed,
  channel: RelayChannel | null,
): void {
  const { status, error, body } = end
  if (error === 'timeout') return sendError(exchange, relayError('upstream_timeout'))
  if (status === null) return sendError(exchange, relayError('upstream_unreachable'))
  const mapped = channel === null ? null : mappedStatusOf(channel, end)
  // A rejection of the site's key or account must not look like a rejection of the caller's.
  if (accountErrorOf(end) !== null) {
    return sendError(exchange, withStatus(relayError('upstream_account'), mapped))
  }
  const confidential = channel === null ? [] : confidentialTo(channel)
  const { isUpstreamErrorHidden: isHidden } = views.options.options
  const texts = { isHidden, isOwnFormat: true, confidential }
  const shown = exchange.errors.providerErrorBody(body, status, texts, exchange.call)
  sendJson(exchange, mapped ?? (status >= 400 && status <= 599 ? status : 502), shown)
}
