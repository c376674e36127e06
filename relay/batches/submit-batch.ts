import { randomUUID } from 'node:crypto'
import type { Attempt } from '#domain/accounts/events.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import {
  acquirePermit,
  CALLS_NO_MODEL,
  type CallOutcome,
  type CallPermit,
} from '../pipeline/acquire-call-permit.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import type { KeyedCall } from '../pipeline/claim-idempotency-key.ts'
import { servingGroupsOf } from '../pipeline/groups-that-may-serve-call.ts'
import { type Exchange, sendError, sendJson } from '../pipeline/http-exchange.ts'
import { withCopiesOfBody } from '../pipeline/memory-of-body-copies.ts'
import { readBody } from '../pipeline/read-body.ts'
import { rejectUnreadRequest } from '../pipeline/send-error-before-body-is-read.ts'
import { bodyShareOf } from '../pipeline/user-share-of-body-memory.ts'
import { mayBeSentTo } from '../views/channel-and-keys-of-submitted-work.ts'
import { confidentialTo, type RelayKey } from '../views/channel-view.ts'
import type { InlineBatches } from './batch-apis-with-inline-requests.ts'
import type { StoredBatch } from './batch-store.ts'
import { claimKeyOfBatch, inProgress } from './claim-idempotency-key-of-batch.ts'
import { type BatchPlan, callsOf, planBatch } from './plan-batch.ts'
import { cancelUnreadable, recordAccepted } from './record-accepted-batch.ts'
import { renderDescription } from './render-batch.ts'
import { type Submitted, sendSubmission } from './send-batch-and-collect-evidence.ts'
import type { BatchDeps } from './settle-batch.ts'

/**
 * The maximum number of batches that a process plans at once, because the lines need much memory.
 * Uploads are not counted, so that slow uploads do not keep other callers waiting.
 */
const PLANS_MAX = 2
/**
 * The memory that a batch needs, as a multiple of its length. The memory holds the caller's lines
 * and the lines to send.
 */
const COPIES = 2
const SUBMIT_MS = 300_000
/**
 * The error for a caller whose batch could not be recorded. The quota for the batch may be reserved
 * nevertheless.
 */
export const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })
const BUSY = relayError('overloaded', { retryAfter: 2 })

let plansAtOnce = 0

/**
 * Handles a request that submits a batch and contains all its lines, from the caller's request to
 * the provider's response.
 */
export async function submitBatch(
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  api: InlineBatches,
): Promise<void> {
  const { bodyMemory } = deps
  const owner = await bodyShareOf(deps, caller.user.userId, exchange.request)
  const body = await readBody(exchange.request, bodyMemory, owner)
  if (isRelayError(body)) return rejectUnreadRequest(exchange, body)
  try {
    const error = await withCopiesOfBody(bodyMemory, owner, body.length * COPIES, () =>
      submitBody(deps, exchange, caller, body, api),
    )
    if (error !== null) sendError(exchange, error)
  } finally {
    bodyMemory.giveBack(body.length)
    bodyMemory.release(owner, body.length)
  }
}

/**
 * The caller who submits a batch, and the permit with which the lines count towards the caller's
 * limits of calls.
 */
export type Permitted = { readonly caller: Caller; readonly permit: CallPermit }

/**
 * Reads and plans all lines of a batch. A process does this for at most `PLANS_MAX` batches at
 * once.
 */
async function planBody(
  deps: BatchDeps,
  { call }: Exchange,
  { caller, permit }: Permitted,
  body: Buffer,
  api: InlineBatches,
): Promise<BatchPlan | RelayError> {
  if (plansAtOnce >= PLANS_MAX) return BUSY
  plansAtOnce += 1
  try {
    const submission = await api.read(body)
    if (isRelayError(submission)) return submission
    const groups = servingGroupsOf(caller, deps.views)
    let first: RelayError | null = null
    for (const group of groups) {
      const inGroup = { ...caller, group }
      const plan = await planBatch(deps, inGroup, call, api, submission)
      const error = isRelayError(plan) ? plan : await permit.claimBatch(group, callsOf(plan))
      if (!isRelayError(plan) && error === null) return plan
      first ??= error
    }
    return first ?? relayError('group_not_allowed', { subject: caller.group })
  } finally {
    plansAtOnce -= 1
  }
}

async function submitBody(
  deps: BatchDeps,
  arrived: Exchange,
  caller: Caller,
  body: Buffer,
  api: InlineBatches,
): Promise<void> {
  // The lines count towards the limits only once their models are known (see `claimBatch`).
  const permit = await acquirePermit(deps, caller, CALLS_NO_MODEL)
  if (isRelayError(permit)) return sendError(arrived, permit)
  let isSuccess = false
  try {
    const keyed = await claimKeyOfBatch(deps, arrived, caller, { work: api.format.name, body })
    if (keyed !== null && isRelayError(keyed)) return sendError(arrived, keyed)
    const exchange = keyed === null ? arrived : { ...arrived, call: keyed.call }
    const planned = await planBody(deps, exchange, { caller, permit }, body, api)
    if (isRelayError(planned)) return sendError(exchange, planned)
    const { channelId } = planned.channel
    const held = { ...planned, api: api.api, channelId }
    const error = await holdBatch(deps, exchange, caller, held)
    if (error !== null) return sendError(exchange, error)
    const submitted = { ...planned, userId: caller.user.userId }
    isSuccess = await send(deps, exchange, submitted, keyed, api)
  } finally {
    permit.release(outcomeOf(isSuccess))
  }
}

/**
 * Returns the outcome for the caller's limits of tokens. The tokens of a submitted batch stay
 * reserved, because its lines are answered later.
 */
export const outcomeOf = (isSuccess: boolean): CallOutcome => ({
  isSuccess,
  tokens: isSuccess ? null : 0,
})

type HeldBatch = Pick<BatchPlan, 'group' | 'parts' | 'lines'> & {
  readonly api: StoredBatch['api']
  readonly channelId: number
  /**
   * The members of the submission that later descriptions of the batch repeat; null if there are
   * none.
   */
  readonly shown: object | null
}

/**
 * Stores the lines and reserves the quota for them. Returns null once both are durable, or the
 * error for the caller. Nothing is sent to the provider before that. If several requests have the
 * same `Idempotency-Key`, only one of them reserves the quota.
 */
export async function holdBatch(
  { batchStore, ledger, vault, log, now }: BatchDeps,
  { call: batch, startedAt, clientIp }: Exchange,
  caller: Caller,
  { api, channelId, group, shown, parts, lines }: HeldBatch,
): Promise<RelayError | null> {
  const { userId, settings } = caller.user
  const holder = randomUUID()
  let isHeld = false
  try {
    const sealedIp = settings.showIpInLogs ? await vault.seal(userId, clientIp) : null
    const request = shown === null ? null : await vault.seal(userId, JSON.stringify(shown))
    const row = { batch, userId, api, submittedAt: startedAt, request, holder }
    const isAdded = await batchStore.add({ ...row, holderSince: now() }, lines)
    if (!isAdded) return inProgress(batch)
    const submission = { batch, api, channelId, startedAt, clientIp: sealedIp }
    const error = await ledger.submit(submission, { ...caller, group }, { parts, lines })
    isHeld = error === null
    if (error !== null) await removeUnheld(ledger, batchStore, batch, holder)
    if (error !== null || (await batchStore.confirm(batch, holder))) return error
    // The reservation took so long that a repeat has taken the batch over, or the poller has
    // removed it. The stored lines are no longer those of this reservation, so the batch must not
    // be sent.
    await ledger.end(batch, 'refused')
    return BUSY
  } catch (err) {
    log.error({ err, call: batch }, 'a batch could not be recorded')
    // No other request can send a batch that this request has reserved. If the batch were not ended
    // here, a repeat would be answered as if the batch had been submitted.
    if (isHeld) await endUnsent(ledger, batch, log)
    // Otherwise, the quota may have been reserved despite the error. The poller then ends the
    // batch, because no provider has accepted it.
    return NO_STORE
  }
}

/** Ends a batch that was not sent. If this fails, the poller does it later. */
const endUnsent = (
  ledger: BatchDeps['ledger'],
  batch: string,
  log: BatchDeps['log'],
): Promise<void> =>
  ledger.end(batch, 'refused').catch((err: unknown) => {
    log.error({ err, call: batch }, 'a batch that was not sent could not be released')
  })

/**
 * Removes a batch whose quota could not be reserved. If an earlier request with the same
 * `Idempotency-Key` has just reserved the quota, the batch stays stored. The poller can then find
 * the quota if that request fails to release it.
 */
async function removeUnheld(
  ledger: BatchDeps['ledger'],
  batchStore: BatchDeps['batchStore'],
  batch: string,
  holder: string,
): Promise<void> {
  const record = await ledger.peek(batch)
  if (record === null || record.end !== null) await batchStore.remove(batch, holder)
}

/** Sends the batch to the provider. Returns true if the provider accepted the batch. */
async function send(
  deps: BatchDeps,
  exchange: Exchange,
  { channel, body, sentModel, userId, shown }: BatchPlan & { readonly userId: number },
  keyed: KeyedCall | null,
  api: InlineBatches,
): Promise<boolean> {
  const { call: batch } = exchange
  const { channelId } = channel
  const choice = await deps.keySelector.choose(channel)
  // Submissions are not reported to the circuit breaker, so they are not used as probes.
  if (choice !== null) deps.breaker.release(choice.probes)
  const error = await channelError(deps, batch, channelId, choice?.key)
  if (choice === null || error !== null) {
    await refuse(deps, batch, keyed)
    sendError(exchange, error ?? NO_CHANNEL)
    return false
  }
  const headers = api.headersOf(exchange)
  const { end, attemptOf } = await sendSubmission(deps, {
    ...{ channelId, target: choice.key.target },
    request: { method: 'POST', path: api.pathOf(sentModel), body, headers },
    signal: AbortSignal.timeout(SUBMIT_MS),
  })
  if (end.kind === 'plain') {
    const answered = { channel, body: end.body, attemptOf, userId, shown }
    return accept(deps, exchange, answered, choice.key, api)
  }
  if (end.kind !== 'failed') return false
  if (isRefused(end)) await refuse(deps, batch, keyed, await attemptOf(null))
  sendFailure(deps, exchange, end, confidentialTo(channel))
  return false
}

const NO_CHANNEL = relayError('no_channel', { subject: '', retryAfter: 10 })

/**
 * Checks whether a recorded batch may be sent to its channel. Returns null if it may, or the error
 * for the caller if it must not be sent or the event store does not answer.
 */
export async function channelError(
  deps: BatchDeps,
  batch: string,
  channelId: number,
  key: RelayKey | undefined,
): Promise<RelayError | null> {
  if (key === undefined) return NO_CHANNEL
  try {
    return (await mayBeSentTo(deps, { channelId, keyRef: key.keyRef })) ? null : NO_CHANNEL
  } catch (err) {
    deps.log.error({ err, call: batch }, 'the channel of a batch could not be checked')
    return NO_STORE
  }
}

export type Failed = Extract<AttemptEnd, { readonly kind: 'failed' }>

/**
 * Reports whether the provider has definitely refused the batch. If the provider's response was
 * lost, the provider may have accepted the batch. The quota then stays reserved until the batch
 * counts as lost.
 */
export const isRefused = ({ status, error }: Failed): boolean =>
  error === 'connect' || (status !== null && status >= 400 && status <= 499 && status !== 408)

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

type AnsweredSubmission = Pick<BatchPlan, 'channel' | 'body' | 'shown'> &
  Pick<Submitted, 'attemptOf'> & { readonly userId: number }

async function accept(
  deps: BatchDeps,
  exchange: Exchange,
  { channel, body, attemptOf, userId, shown }: AnsweredSubmission,
  key: RelayKey,
  { api, protocol }: InlineBatches,
): Promise<boolean> {
  const { call: batch } = exchange
  const description = protocol.readDescription(body, confidentialTo(channel))
  const submission = { batch, channel, key, protocol, attemptOf }
  if (description === null) {
    await cancelUnreadable(deps, { ...submission, upstreamId: protocol.readId(body) })
    sendError(exchange, relayError('upstream_format'))
    return false
  }
  const { upstreamId, object } = description
  const acceptance = { ...submission, upstreamId }
  if (!(await recordAccepted(deps, acceptance))) {
    sendError(exchange, NO_STORE)
    return false
  }
  await sendAccepted(deps, exchange, { api, userId, shown, object })
  return true
}

type Accepted = Pick<StoredBatch, 'api' | 'userId'> & {
  readonly shown: object | null
  /** The members of the provider's description that callers receive. */
  readonly object: object
}

/**
 * Stores the description of a batch whose acceptance was recorded, and sends it to the caller. A
 * failure to store it is only logged, because a caller who got an error would submit the batch
 * again and pay twice.
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

export function sendFailure(
  { views }: BatchDeps,
  exchange: Exchange,
  { status, error, body }: Failed,
  confidential: readonly string[],
): void {
  if (error === 'timeout') return sendError(exchange, relayError('upstream_timeout'))
  if (status === null) return sendError(exchange, relayError('upstream_unreachable'))
  // A rejection of the site's key must not look like a rejection of the caller's key.
  if (status === 401 || status === 403) return sendError(exchange, relayError('upstream_account'))
  const { isUpstreamErrorHidden: isHidden } = views.options.options
  const texts = { isHidden, isOwnFormat: true, confidential }
  const shown = exchange.errors.providerErrorBody(body, status, texts, exchange.call)
  sendJson(exchange, status >= 400 && status <= 599 ? status : 502, shown)
}
