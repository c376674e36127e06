import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest, PathParameters, WireFormat } from '../dialects/wire-format.ts'
import { type AnswerScreen, answerScreen, screenPrompt } from '../screening/word-screening.ts'
import { accessCheck } from './access-check-of-running-calls.ts'
import { acquirePermit, type CallOutcome, type CallPermit } from './acquire-call-permit.ts'
import { authenticate, type Caller } from './authenticate.ts'
import type { AttemptHistory, CallLedger } from './call-ledger.ts'
import { PermitBeforePlan } from './call-permit-before-plan.ts'
import { ChannelSelector } from './channel-selector.ts'
import { checkConversion } from './check-conversion.ts'
import { isCovered } from './combine-alternatives.ts'
import type { CallTerms } from './compute-hold-and-output-limit.ts'
import type { ClosingContext } from './conclude-answered-and-failed-calls.ts'
import { concludeCall } from './conclude-call-by-last-attempt.ts'
import { currentCaller } from './current-caller.ts'
import { excludeChannelsByInputLimit } from './exclude-channels-by-input-limit.ts'
import { type AdmittedCall, admit } from './hold-quota-and-admit-call.ts'
import { type Exchange, sendError } from './http-exchange.ts'
import { type CopiesOfBody, isMemoryError } from './memory-of-body-copies.ts'
import { OutputHoldTracker } from './output-hold-tracker.ts'
import { outputLimitsOf } from './output-limits-of-call.ts'
import { planCall } from './plan-call.ts'
import {
  type Alternative,
  type CallPlan,
  groupsOfPlan,
  sizedRequestOf,
} from './plan-call-for-one-model-and-group.ts'
import { readRequestWithStoredContent } from './read-request-with-stored-content.ts'
import { receiveBodyOrForm } from './receive-body-or-form.ts'
import type { RelayDeps } from './relay-deps.ts'
import { isRetryable } from './retryable-failures.ts'
import { RunningCall } from './running-call.ts'
import { rejectUnreadRequest } from './send-error-before-body-is-read.ts'
import type { CallSession } from './session-affinity.ts'
import { type LastAttempt, tryChannels } from './try-channels-in-order.ts'
import { chatBodyShareOf } from './user-share-of-body-memory.ts'

/**
 * Authenticates a call. `authenticate` finds the caller before the body is read, and
 * `readBodySettings` reads the settings in the body.
 */
export type Authenticator = {
  readonly authenticate: (
    deps: RelayDeps,
    exchange: Exchange,
  ) => Caller | RelayError | Promise<Caller | RelayError>
  readonly readBodySettings: (
    caller: Caller,
    body: Buffer,
  ) => { readonly caller: Caller; readonly body: Buffer } | RelayError
}

/**
 * The properties in which endpoints of calls differ: the wire format and the kind of credentials.
 */
export type CallWork = {
  readonly format: WireFormat
  readonly authenticator: Authenticator
  readonly path: PathParameters | null
}

/** The authenticator for calls with a key. It leaves the request body unchanged. */
export const API_KEY_AUTHENTICATOR: Authenticator = {
  authenticate: (deps, { request, clientIp, startedAt }) =>
    authenticate(deps, request, clientIp, startedAt),
  readBodySettings: (caller, body) => ({ caller, body }),
}

/**
 * Executes one call from the request to the last byte of the response. This file alone decides the
 * order of the steps, so the steps do not depend on each other. Most steps return a promise only in
 * rare cases. A step's result is awaited only if it is a promise, because each `await` would let
 * other calls run in between.
 */
export async function executeCall(
  deps: RelayDeps,
  arrived: Exchange,
  { format, authenticator, path }: CallWork,
): Promise<void> {
  const pendingCaller = authenticator.authenticate(deps, arrived)
  const authenticated = pendingCaller instanceof Promise ? await pendingCaller : pendingCaller
  if (isRelayError(authenticated)) return sendError(arrived, authenticated)
  const pendingOwner = chatBodyShareOf(deps, authenticated, arrived.request)
  const owner = pendingOwner instanceof Promise ? await pendingOwner : pendingOwner
  if (isRelayError(owner)) return rejectUnreadRequest(arrived, owner)
  const received = await receiveBodyOrForm(deps, arrived.request, owner, format)
  if (isRelayError(received)) return rejectUnreadRequest(arrived, received)
  const { body: upload } = received
  const permitBeforePlan = new PermitBeforePlan()
  try {
    const pendingCurrent = currentCaller(deps, authenticated, arrived)
    const current = pendingCurrent instanceof Promise ? await pendingCurrent : pendingCurrent
    if (isRelayError(current)) return sendError(arrived, current)
    const authorized = authenticator.readBodySettings(current, upload)
    if (isRelayError(authorized)) return sendError(arrived, authorized)
    const { caller, body } = authorized
    const complete = body === upload ? received : { ...received, body }
    const reading = { path, permitBeforePlan }
    const pendingRequest = readRequestWithStoredContent(deps, arrived, caller, complete, reading)
    const request = pendingRequest instanceof Promise ? await pendingRequest : pendingRequest
    if (isRelayError(request)) return sendError(arrived, request)
    const exchange = exchangeOf(arrived, received.format, request)
    const plan = planCall(deps.views, caller, request, deps.now())
    if (isRelayError(plan)) return sendError(exchange, plan)
    const { screening } = deps.views.options.options
    const pendingScreening = screenPrompt(screening, caller.group, request.body)
    const screeningError = pendingScreening === null ? null : await pendingScreening
    if (screeningError !== null) return sendError(exchange, screeningError)
    const groups = groupsOfPlan(plan)
    const sized = sizedRequestOf(plan, request)
    const pendingPermit = permitBeforePlan.take() ?? acquirePermit(deps, caller, sized, groups)
    const permit = pendingPermit instanceof Promise ? await pendingPermit : pendingPermit
    if (isRelayError(permit)) return sendError(exchange, permit)
    tracePlan(deps, exchange, caller, request)
    let outcome: CallOutcome = NO_USAGE_OUTCOME
    try {
      const pendingPlan = excludeChannelsByInputLimit(deps, exchange, caller, request, plan)
      const checked = pendingPlan instanceof Promise ? await pendingPlan : pendingPlan
      if (isRelayError(checked)) return sendError(exchange, checked)
      const pendingCheck = checkConversion(deps, exchange, caller, request, checked)
      const unconvertible = pendingCheck instanceof Promise ? await pendingCheck : pendingCheck
      const bodyError = unconvertible ?? received.copies.count(request)
      if (bodyError !== null) return sendError(exchange, bodyError)
      const planned = { request, plan: checked, upload, permit, copies: received.copies }
      outcome = await executePlannedCall(deps, exchange, caller, planned)
    } finally {
      permit.release(outcome)
    }
  } finally {
    permitBeforePlan.release()
    received.release()
  }
}

/**
 * Returns the exchange with the error format and the number of inserted items of a request that was
 * read. The format of the request may differ from that of its path, and stored items may have been
 * inserted into the request.
 */
function exchangeOf(
  arrived: Exchange,
  formatOfPath: WireFormat,
  { format, insertedItems = 0 }: ChatRequest,
): Exchange {
  if (format === formatOfPath && insertedItems === 0) return arrived
  const errors = format === formatOfPath ? arrived.errors : format.errors
  return { ...arrived, errors, insertedItems: insertedItems + (arrived.insertedItems ?? 0) }
}

type Planned = {
  readonly request: ChatRequest
  readonly plan: CallPlan
  /** The body as the caller sent it. */
  readonly upload: Buffer
  readonly permit: CallPermit
  readonly copies: CopiesOfBody
}

const NO_USAGE_OUTCOME: CallOutcome = { isSuccess: false, tokens: 0 }

/**
 * Executes a planned call, from the reservation of the hold to the bill. The call counts as
 * successful if the provider answered completely, or if it answered until the caller disconnected.
 */
async function executePlannedCall(
  deps: RelayDeps,
  arrived: Exchange,
  caller: Caller,
  { request, plan, upload, permit, copies }: Planned,
): Promise<CallOutcome> {
  const pendingSession = deps.sessions.find(caller, arrived.request.headers, request)
  const admitted = await admit(deps, arrived, caller, request, plan, upload)
  if (isRelayError(admitted)) {
    sendError(arrived, admitted)
    return NO_USAGE_OUTCOME
  }
  const { ledger, exchange } = admitted
  if (deps.log.isLevelEnabled('debug')) {
    const { hold, outputLimit: limit } = ledger
    deps.log.debug({ call: exchange.call, hold: String(hold), limit }, 'a call was admitted')
  }
  let started: StartedCall | null = null
  try {
    started = startCall(deps, admitted, caller, request)
    const session = pendingSession instanceof Promise ? await pendingSession : pendingSession
    return await executeAdmittedCall(deps, admitted, caller, started, {
      request,
      permit,
      copies,
      session,
    })
  } finally {
    // The ledger has not ended if an exception ended the call, or if its bill could not be
    // determined. Without a release, the call would renew its lease until the process ends.
    if (!ledger.hasEnded) await releaseAfterBug(ledger, started?.call.attemptHistory())
    if (started !== null) await removeCall(deps, started)
  }
}

type StartedCall = {
  readonly call: RunningCall
  readonly screen: AnswerScreen | null
  readonly outputHold: OutputHoldTracker
  readonly timerEntry: ReturnType<RelayDeps['timer']['add']>
  readonly callEntry: ReturnType<RelayDeps['runningCalls']['add']>
}

/** Starts the deadlines of a call whose hold is durable. */
function startCall(
  deps: RelayDeps,
  { ledger, plan, exchange }: AdmittedCall,
  caller: Caller,
  request: ChatRequest,
): StartedCall {
  const screen = answerScreen(deps.views.options.options.screening, caller.group)
  const outputHold = new OutputHoldTracker(plan.price, plan.terms, ledger.outputLimit)
  const callDeps = runningCallDepsOf(deps, caller, exchange, screen, outputHold)
  const call = new RunningCall(callDeps, exchange, request, ledger)
  const timerEntry = deps.timer.add(call)
  return { call, screen, outputHold, timerEntry, callEntry: deps.runningCalls.add(call) }
}

/** Removes a call whose ledger has ended from the lists of running calls. */
async function removeCall(
  deps: RelayDeps,
  { call, timerEntry, callEntry }: StartedCall,
): Promise<void> {
  if (call.pendingCancellations.length > 0) await Promise.all(call.pendingCancellations)
  deps.runningCalls.remove(callEntry)
  // Without this immediate removal, a finished call would survive several garbage collections.
  if (call.isOver()) deps.timer.remove(timerEntry)
}

type Work = Omit<Planned, 'plan' | 'upload'> & { readonly session: CallSession | null }

/** Runs a call from the choice of a channel to the bill. */
async function executeAdmittedCall(
  deps: RelayDeps,
  { ledger, plan, exchange }: AdmittedCall,
  caller: Caller,
  { call, screen, outputHold }: StartedCall,
  { request, permit, copies, session }: Work,
): Promise<CallOutcome> {
  const { terms } = plan
  const running = { call, caller, ledger, terms, outputHold, session, permit, copies }
  const outcome = await tryAlternatives(deps, exchange, request, plan, running)
  const [last, unserved] = isRelayError(outcome) ? [null, outcome] : [outcome, null]
  const { format } = request
  const closing = { deps, exchange, request, format, call, ledger, outputHold, unserved, caller }
  const isSuccess = await concludeCall(closing, screen, last)
  if (deps.log.isLevelEnabled('debug')) {
    deps.log.debug({ call: exchange.call, isSuccess, tokens: call.tokens }, 'a call ended')
  }
  // A caller who disconnects before the end of an answer is charged for the call, so the call
  // counts as a success.
  const isLeft = call.isCallerGone && call.tokens > 0
  return { isSuccess: isSuccess || isLeft, tokens: call.tokens }
}

type Running = Pick<ClosingContext, 'call' | 'caller' | 'ledger' | 'outputHold'> & {
  readonly terms: CallTerms
  readonly session: CallSession | null
  readonly permit: CallPermit
  readonly copies: CopiesOfBody
}

/**
 * Tries the alternatives of a call in order until a channel answers. An alternative is a model and
 * a group with which the call may be served. Returns the last attempt, or an error if no channel
 * was tried. Alternatives whose limits are reached, or that the hold does not cover, are left out.
 */
function tryAlternatives(
  deps: RelayDeps,
  exchange: Exchange,
  request: ChatRequest,
  plan: CallPlan,
  running: Running,
): Promise<LastAttempt | RelayError> {
  const { group } = running.caller
  const original = { request, group, offer: plan.offer, served: null }
  const { alternatives = null } = plan
  // Nearly every call has one model and one group, whose limits its permit covers.
  return alternatives === null && running.permit.covers({ model: request.model, group })
    ? tryAlternative(deps, exchange, plan, running, original)
    : tryInOrder(deps, exchange, request, plan, running, alternatives ?? [original])
}

async function tryInOrder(
  deps: RelayDeps,
  exchange: Exchange,
  request: ChatRequest,
  plan: CallPlan,
  running: Running,
  alternatives: readonly Alternative[],
): Promise<LastAttempt | RelayError> {
  const { call, ledger, terms, outputHold, permit } = running
  let outcome: LastAttempt | RelayError | null = null
  let limitError: RelayError | null = null
  for (const alternative of alternatives) {
    if (outcome !== null && !mayTryAnother(outcome, call, request)) break
    if (!isCovered(alternative, plan.price, terms, ledger)) continue
    const service = { model: alternative.request.model, group: alternative.group }
    limitError = permit.covers(service) ? null : await permit.claimService(service)
    if (limitError !== null) continue
    const earlier = [call.served, outputHold.price] as const
    const next = await tryAlternative(deps, exchange, plan, running, alternative)
    // A provider's error says more than the error that a fallback could not be tried.
    if (outcome === null || isRelayError(outcome) || !isRelayError(next)) outcome = next
    else [call.served, outputHold.price] = earlier
  }
  return outcome ?? limitError ?? relayError('insufficient_quota')
}

function tryAlternative(
  deps: RelayDeps,
  exchange: Exchange,
  { isOverridden, price }: CallPlan,
  { call, caller, ledger, terms, outputHold, session, copies }: Running,
  { request, offer, served }: Alternative,
): Promise<LastAttempt | RelayError> {
  const { options } = deps.views.options
  const isPinned = caller.pinnedChannelId !== null
  call.served = served
  outputHold.price = served?.price ?? price
  const preferred = session?.channelIn(offer)
  return tryChannels(deps, exchange, call, {
    selector: new ChannelSelector(deps, offer, request.model, isPinned, preferred),
    session,
    request,
    copies,
    isOverridden,
    adapters: options.adapters,
    triesMax: isPinned ? 1 : 1 + options.retryTimes,
    limits: outputLimitsOf(options, request, terms, ledger.outputLimit),
    userId: caller.user.userId,
  })
}

/**
 * Reports whether another model or group may be tried after this outcome. The caller must still be
 * connected and have access, and the call must not have run out of time. If an attempt was made, it
 * must have failed with a retryable error. If no attempt was made, the reason must not be a lack of
 * memory.
 */
const mayTryAnother = (
  outcome: LastAttempt | RelayError,
  call: RunningCall,
  { isStream }: ChatRequest,
): boolean => {
  if (!call.canContinue(performance.now())) return false
  if (isRelayError(outcome)) return !isMemoryError(outcome)
  return outcome.end.kind === 'failed' && isRetryable(outcome.end, isStream)
}

const runningCallDepsOf = (
  deps: RelayDeps,
  caller: Caller,
  exchange: Exchange,
  screen: AnswerScreen | null,
  outputHold: OutputHoldTracker,
) => ({
  deadlines: deps.deadlines,
  counter: deps.counter.of(caller.user.userId),
  cancellations: deps.cancellations,
  pingIntervalMs: deps.views.options.options.pingIntervalMs,
  via: deps.outbound.via,
  access: accessCheck(deps, caller, exchange),
  screen,
  outputHold,
})

const NO_HISTORY: AttemptHistory = { attempts: [], firstByteMs: null }

/** Releases the hold of a call that an unexpected exception ended. */
async function releaseAfterBug(ledger: CallLedger, history = NO_HISTORY): Promise<void> {
  const bug = { channelId: null, reason: 'refused', errorCode: 'internal_error' } as const
  await ledger.release({ ...bug, statusCode: 500 }, history).catch(() => {})
}

/**
 * Logs the start of a call. At log level debug, every line about the call has its id in the field
 * `call`.
 */
function tracePlan(
  { log }: RelayDeps,
  { call }: Exchange,
  { user: { userId }, group }: Caller,
  { model, isStream }: ChatRequest,
): void {
  if (!log.isLevelEnabled('debug')) return
  log.debug({ call, userId, group, model, isStream }, 'a call was planned and has a permit')
}
