import { outcomeOf } from '#relay/channel-health/attempt-outcome.ts'
import type { AdapterOptions } from '../adapters/read-claude-and-gemini-options.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import { lossesInCallerRequest } from '../stored-responses/path-in-caller-request.ts'
import type { RelayChannel, RelayKey } from '../views/channel-view.ts'
import type { AttemptEnd } from './attempt-end-types.ts'
import { withDroppedBetas } from './build-provider-call.ts'
import type { ChannelSelector } from './channel-selector.ts'
import type { ChosenKey } from './choose-channel-key.ts'
import { isConversionFailure } from './convert-request.ts'
import { type Exchange, setNameListHeader } from './http-exchange.ts'
import { logUnreadableAnswer } from './log-unreadable-answer.ts'
import { type CopiesOfBody, isMemoryError } from './memory-of-body-copies.ts'
import type { OutputLimits } from './output-limits-of-call.ts'
import { type Candidate, candidateOf } from './prepare-request-for-channel.ts'
import type { RelayDeps } from './relay-deps.ts'
import { isRetryable } from './retryable-failures.ts'
import type { RunningCall } from './running-call.ts'
import type { CallSession } from './session-affinity.ts'

/**
 * The channels of one model and group that a call may use, and the settings of the call's attempts.
 */
type ChannelRoute = {
  readonly selector: ChannelSelector
  /** The session of the call, or null if the call belongs to no session. */
  readonly session: CallSession | null
  readonly triesMax: number
  readonly isOverridden: boolean
  readonly limits: OutputLimits
  readonly adapters: AdapterOptions
  readonly request: ChatRequest
  readonly copies: CopiesOfBody
  readonly userId: number
}
export type LastAttempt = { readonly candidate: Candidate; readonly end: AttemptEnd }

const NO_KEYS: ReadonlySet<RelayKey> = new Set()

/**
 * Tries one channel after another while the last attempt failed and may be retried. Stops after
 * `triesMax` attempts (probes do not count), or when the call may not continue or the retry budget
 * is used up. If a key caused the failure, the same channel may be tried again with another key. If
 * no attempt was made, returns the last error that the request, the caller's quota or a lack of
 * memory caused while the request was prepared for a channel. If there is no such error, returns
 * the error that no channel is usable.
 */
export async function tryChannels(
  deps: RelayDeps,
  exchange: Exchange,
  call: RunningCall,
  route: ChannelRoute,
): Promise<LastAttempt | RelayError> {
  try {
    return await tryInTurn(deps, exchange, call, route)
  } finally {
    // After an exception, the channel's permit would otherwise be held until the process ends.
    route.selector.end(true)
  }
}

async function tryInTurn(
  deps: RelayDeps,
  exchange: Exchange,
  call: RunningCall,
  route: ChannelRoute,
): Promise<LastAttempt | RelayError> {
  const { selector, session, triesMax, request, userId } = route
  let last: LastAttempt | null = null
  let requestError: RelayError | null = null
  let triesLeft = triesMax
  let used = NO_KEYS
  while (triesLeft > 0 && call.canContinue(performance.now())) {
    const nextCandidate = selector.next()
    const channel = nextCandidate instanceof Promise ? await nextCandidate : nextCandidate
    if (channel === null) break
    const candidate = candidateAt(channel, route, exchange)
    const pendingKey = isRelayError(candidate)
      ? null
      : deps.keySelector.choose(channel, used, session?.keyRefAt(channel))
    const chosenKey = pendingKey instanceof Promise ? await pendingKey : pendingKey
    const isRetry = last !== null
    const isUnfit = isRelayError(candidate) || chosenKey === null
    // The caller may have disconnected while a channel and key were chosen.
    const isOver = !call.canContinue(performance.now())
    if (isUnfit || isOver || (isRetry && !deps.retryBudget.enter(deps.runningCalls.size))) {
      selector.end(true)
      if (chosenKey !== null) deps.breaker.release(chosenKey.probes)
      if (isRelayError(candidate) && isNotChannelFault(candidate)) requestError = candidate
      // Another channel would need the same copies, and there is no memory for them either.
      const isFull = isRelayError(candidate) && isMemoryError(candidate)
      if (isUnfit && !isFull) continue
      break
    }
    const { key } = chosenKey
    noteDropped(deps, exchange, candidate)
    const end = await tryOnce(deps, call, candidate, chosenKey, isRetry)
    selector.end(false)
    last = { candidate, end }
    traceAttempt(deps, exchange, call, channel.channelId, end)
    const { probes: ofChannel } = selector
    const { probes: ofKey } = chosenKey
    const probes = ofKey.length === 0 ? ofChannel : [...ofChannel, ...ofKey]
    const tried = { channel, keyRef: key.keyRef, model: request.model, probes }
    deps.breaker.note({ ...tried, call: exchange.call }, end)
    session?.note(channel, key, end)
    const attempt = { channel, key, call: exchange.call, userId, requestBody: candidate.body }
    if (deps.autoDisable.note(attempt, end)) call.attempts.blameAccount()
    if (end.kind !== 'failed' || !isRetryable(end, request.isStream)) break
    // A probe tests an open circuit for all calls, so it does not count towards this call's
    // attempts.
    if (probes.length === 0) triesLeft -= 1
    if (channel.keys.length > 1 && isKeyFault(end)) {
      used = new Set([...used, key])
      selector.retryWithAnotherKey()
    }
  }
  return last ?? requestError ?? noUsableChannelError(selector, request.model)
}

/**
 * Makes one attempt. If it throws, gives back the probes of the key. The place of a retry in the
 * retry budget is given back in any case.
 */
async function tryOnce(
  deps: RelayDeps,
  call: RunningCall,
  candidate: Candidate,
  { key, probes }: ChosenKey,
  isRetry: boolean,
): Promise<AttemptEnd> {
  try {
    return await call.tryAt(candidate, key)
  } catch (err) {
    deps.breaker.release(probes)
    throw err
  } finally {
    if (isRetry) deps.retryBudget.release()
  }
}

/**
 * Returns the request for a channel. Returns an error if the request can't be prepared or too
 * little memory is left for its body.
 */
function candidateAt(
  channel: RelayChannel,
  { request, isOverridden, limits, adapters, copies }: ChannelRoute,
  exchange: Exchange,
): Candidate | RelayError {
  const {
    request: { headers },
    insertedItems,
  } = exchange
  const converted = candidateOf(channel, request, isOverridden, limits, adapters)
  if (isRelayError(converted)) return converted
  const losses = lossesInCallerRequest(converted.losses, insertedItems)
  const prepared = losses === converted.losses ? converted : { ...converted, losses }
  const error = copies.count(request, prepared.body)
  if (error !== null) return error
  const onUnreadable = (err: unknown) => logUnreadableAnswer(exchange, channel.channelId, err)
  return { ...withDroppedBetas(prepared, headers), onUnreadable }
}

/**
 * Reports whether an error is caused by the request, by the caller's quota or by a lack of memory,
 * and not by the channel.
 */
const isNotChannelFault = (error: RelayError): boolean =>
  isConversionFailure(error) || isMemoryError(error) || error.code === 'insufficient_quota'

function traceAttempt(
  { log }: RelayDeps,
  { call }: Exchange,
  { providerRequestId }: RunningCall,
  channelId: number,
  end: AttemptEnd,
): void {
  if (!log.isLevelEnabled('debug')) return
  const error = end.kind === 'plain' ? null : end.error
  const { kind, status } = end
  log.debug({ call, channelId, kind, status, error, providerRequestId }, 'an attempt ended')
}

function noteDropped({ log }: RelayDeps, exchange: Exchange, candidate: Candidate) {
  const { channel, dropped, losses } = candidate
  setNameListHeader(exchange, 'X-Dropped-Members', dropped)
  setNameListHeader(exchange, 'X-Conversion-Loss', losses)
  if (dropped.length === 0) return
  const { channelId } = channel
  log.debug({ call: exchange.call, channelId, dropped }, 'members of a request were removed')
}

function isKeyFault(end: AttemptEnd): boolean {
  const outcome = outcomeOf(end)
  return typeof outcome === 'object' && outcome.blame === 'key'
}

/**
 * Returns the error for a call without a usable channel. For example, all channels were full, or
 * they were removed after the call was planned.
 */
export function noUsableChannelError(
  { retryAfterMs }: Pick<ChannelSelector, 'retryAfterMs'>,
  subject: string,
): RelayError {
  if (retryAfterMs === 0)
    return relayError('no_channel', { param: 'model', subject, retryAfter: 10 })
  const retryAfter = Math.max(1, Math.ceil(retryAfterMs / 1_000))
  return relayError('channels_busy', { param: 'model', subject, retryAfter })
}
