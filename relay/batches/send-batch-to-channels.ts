import { setTimeout as pause } from 'node:timers/promises'
import type { Attempt } from '#domain/accounts/events.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import type { KeyedCall } from '../pipeline/claim-idempotency-key.ts'
import { type Exchange, sendError, signalOfCallerGone } from '../pipeline/http-exchange.ts'
import { isRetryable } from '../pipeline/retryable-failures.ts'
import { confidentialTo, type RelayChannel } from '../views/channel-view.ts'
import type { InlineBatches } from './batch-apis-with-inline-requests.ts'
import type { BatchPlace } from './batch-channels.ts'
import {
  channelError,
  type Failed,
  isRefused,
  NO_STORE,
  refuse,
  sendAccepted,
  sendFailure,
} from './conclude-submission.ts'
import {
  type BatchPlan,
  type PlannedBody,
  planForOtherChannel,
  whilePlanning,
} from './plan-batch.ts'
import { cancelUnreadable, recordAccepted } from './record-accepted-batch.ts'
import { type Submitted, sendSubmission } from './send-batch-and-collect-evidence.ts'
import type { BatchDeps } from './settle-batch.ts'

/**
 * The maximum time of all attempts together. It is shorter than `LOST_MS`, after which a batch that
 * no provider has accepted counts as lost.
 */
const SUBMIT_MS = 300_000
/** The time in milliseconds that one attempt may take. */
const ATTEMPT_MS_MAX = 90_000

/** A batch whose quota is reserved, but that was not sent to a provider yet. */
export type HeldBatch = {
  /** The caller. The member `group` is the group whose prices are charged. */
  readonly caller: Caller
  readonly keyed: KeyedCall | null
  readonly api: InlineBatches
  /** The body of the caller's request, from which the lines are planned for another channel. */
  readonly callersBody: Buffer
  readonly plan: BatchPlan
}

/** The next attempt, and what is sent in it. */
type Prepared = Omit<PlannedBody, 'parts' | 'lines'> & { readonly place: BatchPlace }

type FailedAttempt = {
  readonly channel: RelayChannel
  readonly end: Failed
  /** True if the batch may be sent to another channel. */
  readonly isRetryable: boolean
  readonly attempt: Attempt
}

/**
 * Sends a batch to one channel after another until a provider accepts it or no attempt is left (see
 * `BatchChannels`). After a failure that leaves open whether the provider has accepted the batch,
 * such as a lost connection, the batch is not sent again, because two providers might process it.
 * No attempt begins after the caller has left, because the caller would not learn the batch's id
 * and would submit the batch again. Returns true if a provider accepted the batch and this was
 * recorded.
 */
export async function sendBatchToChannels(
  deps: BatchDeps,
  exchange: Exchange,
  held: HeldBatch,
): Promise<boolean> {
  const { plan, keyed } = held
  const { call: batch } = exchange
  const signal = AbortSignal.timeout(SUBMIT_MS)
  // An attempt that has begun goes on after the caller has left, because the provider may accept
  // the batch nevertheless. No attempt begins so late that `SUBMIT_MS` could cut it off.
  const lastBegin = AbortSignal.timeout(SUBMIT_MS - ATTEMPT_MS_MAX)
  const stopped = AbortSignal.any([lastBegin, signalOfCallerGone(exchange)])
  let next: Prepared | null = firstOf(plan)
  let error: RelayError | null = null
  let last: FailedAttempt | null = null
  /** The last failed attempt. Null if there is none, or if an event already contains it. */
  let attempt: Attempt | null = null
  while (next !== null && !stopped.aborted) {
    const { channel, key } = next.place
    const unusable = plan.channels.noneUsableError()
    error = await channelError(deps, batch, channel.channelId, key, unusable)
    if (error === null) {
      const sent = await sendTo(deps, exchange, held, next, signal)
      if (typeof sent === 'boolean') return sent
      last = sent
      attempt = sent.attempt
      if (!sent.isRetryable) break
    } else plan.channels.skip()
    // The body is no longer needed. Its memory must be free before the body for the next channel is
    // built.
    next = null
    if (error === NO_STORE || stopped.aborted) break
    next = await prepareNext(deps, exchange, held, attempt, stopped)
    if (next !== null) attempt = null
  }
  // All providers before the last one have refused the batch. If the last one may have accepted it,
  // the quota stays reserved until the batch counts as lost.
  if (last === null || isRefused(last.end)) await refuse(deps, batch, keyed, attempt)
  // A channel that was full is known only after the last selection.
  const unsent = error === NO_STORE ? NO_STORE : plan.channels.noneUsableError()
  if (last === null) sendError(exchange, unsent)
  else sendFailure(deps, exchange, last.end, last.channel)
  return false
}

/** Returns the first attempt. Removes the body from the plan, which would keep it in memory. */
function firstOf(plan: BatchPlan): Prepared | null {
  const { body, place, sentModel, omissions } = plan
  plan.body = null
  return body === null ? null : { body, place, sentModel, omissions }
}

/**
 * Sends the batch to one channel. Returns the failure if the attempt failed. Otherwise, the caller
 * has received the response, and the result is true if the provider accepted the batch.
 */
async function sendTo(
  deps: BatchDeps,
  exchange: Exchange,
  held: HeldBatch,
  { place, body, sentModel, omissions }: Prepared,
  signal: AbortSignal,
): Promise<FailedAttempt | boolean> {
  const { api, plan } = held
  omissions.add({ dropped: api.droppedHeaders(exchange), losses: [] })
  omissions.setHeaders(exchange)
  const { channel, key } = place
  const { end, attemptOf } = await sendSubmission(deps, {
    ...{ channelId: channel.channelId, target: key.target, signal },
    request: {
      ...{ method: 'POST', path: api.pathOf(sentModel), body },
      headers: api.headersOf(exchange),
    },
  })
  plan.channels.note(exchange.call, end, body)
  if (end.kind === 'plain')
    return accept(deps, exchange, held, { place, body: end.body, attemptOf, omissions })
  if (end.kind === 'streamed') return false
  const isToBeRetried = isRefused(end) && isRetryable(end, false)
  return { channel, end, isRetryable: isToBeRetried, attempt: await attemptOf(null) }
}

/**
 * Selects the next channel and plans the batch for it. Stores the channel and the data of the
 * lines, which must be durable before the batch is sent. Returns null if no channel is left, if
 * these data can't be stored, or if `stopped` is aborted. `attempt` is the failed attempt at the
 * previous channel, or null if there was none.
 */
async function prepareNext(
  deps: BatchDeps,
  { call: batch }: Exchange,
  held: HeldBatch,
  attempt: Attempt | null,
  stopped: AbortSignal,
): Promise<Prepared | null> {
  for (;;) {
    const selected = await selectAndPlan(deps, batch, held, stopped)
    if (selected === null) return null
    const { place, planned } = selected
    const { channelId } = place.channel
    if (isRelayError(planned)) {
      deps.log.debug({ call: batch, channelId }, 'a channel was left out')
      held.plan.channels.skip()
      if (stopped.aborted) return null
      continue
    }
    const { lines, body, sentModel, omissions } = planned
    try {
      await deps.batchStore.replaceLines(batch, lines)
      const failed = attempt === null ? {} : { attempt }
      await deps.ledger.route(batch, { channelId, ...failed })
      return { place, body, sentModel, omissions }
    } catch (err) {
      deps.log.error({ err, call: batch }, 'the next channel of a batch could not be recorded')
      return null
    }
  }
}

/**
 * The pause in milliseconds after the queue for planning was full. The batch is then queued again.
 */
const REQUEUE_MS = 500

type Selected = { readonly place: BatchPlace; readonly planned: PlannedBody | RelayError }

/**
 * Selects the next channel, and plans the lines for it. The channel is selected only when the batch
 * can be planned. A batch that waits thus occupies no channel. Returns null if no channel is left
 * or `stopped` is aborted.
 */
async function selectAndPlan(
  deps: BatchDeps,
  batch: string,
  { caller, api, callersBody, plan }: HeldBatch,
  stopped: AbortSignal,
): Promise<Selected | null> {
  while (!stopped.aborted) {
    const selected = await whilePlanning(caller, stopped, async (): Promise<Selected | null> => {
      const place = await plan.channels.next()
      if (place === null) return null
      const submission = await api.read(callersBody)
      if (isRelayError(submission)) return { place, planned: submission }
      const at = { batch, channel: place.channel, api }
      const planned = await planForOtherChannel(deps, caller, at, plan.parts, submission)
      return { place, planned }
    })
    if (selected === null || !isRelayError(selected)) return selected
    // Too many other batches wait to be planned. No channel is at fault.
    await pause(REQUEUE_MS, undefined, { signal: stopped }).catch(() => {})
  }
  return null
}

type Answered = Pick<Submitted, 'attemptOf'> &
  Pick<Prepared, 'omissions'> & {
    readonly place: BatchPlace
    /** The provider's description of the batch. */
    readonly body: Buffer
  }

async function accept(
  deps: BatchDeps,
  exchange: Exchange,
  { api: { api, protocol }, caller, plan: { shown } }: HeldBatch,
  { place: { channel, key }, body, attemptOf, omissions }: Answered,
): Promise<boolean> {
  const { call: batch } = exchange
  const description = protocol.readDescription(body, confidentialTo(channel))
  const submission = { batch, channel, key, protocol, attemptOf, omissions }
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
  const { userId } = caller.user
  await sendAccepted(deps, exchange, { api, userId, shown, object })
  return true
}
