import { randomUUID } from 'node:crypto'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import {
  acquirePermit,
  CALLS_NO_MODEL,
  type CallOutcome,
  type CallPermit,
  isLimitError,
} from '../pipeline/acquire-call-permit.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { changedAccessError, currentCaller } from '../pipeline/current-caller.ts'
import { servingGroupsOf } from '../pipeline/groups-that-may-serve-call.ts'
import {
  CALLER_GONE,
  type Exchange,
  isCallerGone,
  sendError,
  signalOfCallerGone,
} from '../pipeline/http-exchange.ts'
import { withCopiesOfBody } from '../pipeline/memory-of-body-copies.ts'
import { readBody } from '../pipeline/read-body.ts'
import { rejectUnreadRequest } from '../pipeline/send-error-before-body-is-read.ts'
import { bodyShareOf } from '../pipeline/user-share-of-body-memory.ts'
import type { InlineBatches } from './batch-apis-with-inline-requests.ts'
import type { StoredBatch } from './batch-store.ts'
import { claimKeyOfBatch, inProgress } from './claim-idempotency-key-of-batch.ts'
import { NO_STORE } from './conclude-submission.ts'
import { type BatchPlan, callsOf, planBatch, whilePlanning } from './plan-batch.ts'
import { sendBatchToChannels } from './send-batch-to-channels.ts'
import type { BatchDeps } from './settle-batch.ts'

/**
 * The memory for copies of a batch, as a multiple of the length of its body. The memory holds the
 * caller's lines and the lines to send.
 */
const COPIES = 2
const BUSY = relayError('overloaded', { retryAfter: 2 })

/**
 * Handles a request that submits a batch and contains all its lines, from the caller's request to
 * the provider's response.
 */
export async function submitBatch(
  deps: BatchDeps,
  exchange: Exchange,
  authenticated: Caller,
  api: InlineBatches,
): Promise<void> {
  const { bodyMemory } = deps
  const owner = await bodyShareOf(deps, authenticated.user.userId, exchange.request)
  const body = await readBody(exchange.request, bodyMemory, owner)
  if (isRelayError(body)) return rejectUnreadRequest(exchange, body)
  try {
    const caller = await currentCaller(deps, authenticated, exchange)
    if (isRelayError(caller)) return sendError(exchange, caller)
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
 * Returns the error for a caller after a group has refused a batch with the error `second`. `first`
 * is the error of the groups before, or null. It is kept, unless it says that the batch exceeds a
 * limit of its groups in any case, and the batch may fit into the limits of the last group later.
 */
export const errorOfGroups = (first: RelayError | null, second: RelayError): RelayError =>
  first === null || (first.code === 'batch_above_limit' && isLimitError(second)) ? second : first

/**
 * Reads and plans all lines of a batch, in the first of the caller's groups that may serve them.
 * The channel of the plan must be given back at the end.
 */
async function planBody(
  deps: BatchDeps,
  { call }: Exchange,
  { caller, permit }: Permitted,
  body: Buffer,
  api: InlineBatches,
): Promise<BatchPlan | RelayError> {
  const submission = await api.read(body)
  if (isRelayError(submission)) return submission
  const groups = servingGroupsOf(caller, deps.views)
  let first: RelayError | null = null
  for (const group of groups) {
    const inGroup = { ...caller, group }
    const plan = await planBatch(deps, inGroup, call, api, submission)
    const error = isRelayError(plan) ? plan : await permit.claimBatch(group, callsOf(plan))
    if (!isRelayError(plan) && error === null) return plan
    if (!isRelayError(plan)) plan.channels.skip()
    if (error !== null) first = errorOfGroups(first, error)
  }
  return first ?? relayError('group_not_allowed', { subject: caller.group })
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
    const plan = await whilePlanning(caller, signalOfCallerGone(exchange), () =>
      planBody(deps, exchange, { caller, permit }, body, api),
    )
    if (isRelayError(plan)) return sendError(exchange, plan)
    try {
      const { group, parts, lines, shown } = plan
      const { channelId } = plan.place.channel
      const reserved = { group, parts, lines, shown, api: api.api, channelId }
      const error = await holdBatch(deps, exchange, caller, reserved)
      if (error !== null) return sendError(exchange, error)
      const held = { caller: { ...caller, group }, keyed, api, callersBody: body, plan }
      isSuccess = await sendBatchToChannels(deps, exchange, held)
    } finally {
      // After an error, the channel's permit would otherwise be held until the process ends.
      plan.channels.skip()
    }
  } finally {
    permit.release(outcomeOf(isSuccess))
  }
}

/**
 * Returns the outcome that is reported to the caller's limits of tokens. The tokens of a submitted
 * batch stay reserved, because the lines are answered later.
 */
export const outcomeOf = (isSuccess: boolean): CallOutcome => ({
  isSuccess,
  tokens: isSuccess ? null : 0,
})

type ReservedBatch = Pick<BatchPlan, 'group' | 'parts' | 'lines'> & {
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
  deps: BatchDeps,
  exchange: Exchange,
  caller: Caller,
  { api, channelId, group, shown, parts, lines }: ReservedBatch,
): Promise<RelayError | null> {
  // A caller who has left does not learn the batch's id, and probably submits the batch again.
  if (isCallerGone(exchange)) return CALLER_GONE
  // A batch may have waited for minutes until all its lines were planned.
  const changed = await changedAccessError(deps, { ...caller, group }, exchange)
  if (changed !== null) return changed
  const { batchStore, ledger, vault, log, now } = deps
  const { call: batch, startedAt, clientIp } = exchange
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
    // If `isHeld` is false, the quota may have been reserved despite the error. The poller then
    // ends the batch, because no provider has accepted it.
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
