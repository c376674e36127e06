import type { CallEnd } from '#domain/accounts/events.ts'
import type { AnswerError } from '../canonical/canonical-answer.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { ChatRequest, WireFormat } from '../dialects/wire-format.ts'
import { idsInEvent, idsInResponse } from '../stored-responses/ids-in-response.ts'
import { withoutStoring } from '../stored-responses/record-response-content.ts'
import type { AnswerForwarder } from './answer-forwarder-types.ts'
import type { AttemptEnd, AttemptError } from './attempt-end-types.ts'
import type { Caller } from './authenticate.ts'
import { type Delivery, meter, tokensOf } from './billed-usage.ts'
import { deliveryOf, deliveryOfStream, deliveryOfTail } from './billing-data-of-answer.ts'
import type { CallLedger } from './call-ledger.ts'
import { accountCodeIn } from './detect-provider-account-error.ts'
import {
  answerError,
  callErrorAnswer,
  ERROR_CODE_OF,
  errorOfAttempt,
  providerErrorBody,
  sendCallError,
} from './failed-call-answer.ts'
import { mismatchIn } from './find-mismatch-of-model-or-cost.ts'
import { type Exchange, errorEvent } from './http-exchange.ts'
import type { OutputHoldTracker } from './output-hold-tracker.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import { isRecordable, recordStoredResponse } from './record-stored-response.ts'
import { changesOf } from './recorded-request-changes.ts'
import type { RelayDeps } from './relay-deps.ts'
import type { RunningCall } from './running-call.ts'
import { isAnswered, isSentAsStream, sendPlain, streamOf, UNREADABLE } from './send-plain-answer.ts'
import { billOf } from './settlement-data-of-call.ts'
import { storeProviderErrorMessage } from './store-provider-error-message.ts'
import { endStream, writeBytes } from './write-streamed-response.ts'

/** The data of a call that is needed to end it. */
export type ClosingContext = {
  readonly deps: RelayDeps
  readonly exchange: Exchange
  readonly request: ChatRequest
  /** The caller's format. */
  readonly format: WireFormat
  readonly call: RunningCall
  readonly ledger: CallLedger
  readonly outputHold: OutputHoldTracker
  /** The error for the caller if no channel was tried; otherwise null. */
  readonly unserved: RelayError | null
  readonly caller: Caller
}

const NO_STORE = relayError('store_unavailable', { retryAfter: 5 })

/** The call end that the ledger records for each error of an attempt. */
const END_OF: Record<AttemptError, CallEnd> = {
  status: 'upstream-error',
  connect: 'upstream-error',
  format: 'upstream-error',
  'no-image': 'upstream-error',
  'no-result': 'upstream-error',
  blocked: 'upstream-error',
  'error-event': 'upstream-error',
  'model-fault': 'upstream-error',
  timeout: 'timeout',
  cut: 'incomplete',
  'too-large': 'incomplete',
  draining: 'incomplete',
  revoked: 'incomplete',
  screened: 'incomplete',
  'balance-spent': 'incomplete',
  'store-unavailable': 'incomplete',
  'over-limit': 'incomplete',
  'caller-gone': 'client-gone',
}

/**
 * Returns the call end to record. If the caller has disconnected, this is `client-gone`. An answer
 * that was read only for its usage is recorded as incomplete, because the caller did not receive
 * it.
 */
function endOf({ isCallerGone, readsForUsageOnly }: RunningCall, end: CallEnd): CallEnd {
  if (isCallerGone) return 'client-gone'
  return readsForUsageOnly && end === 'done' ? 'incomplete' : end
}

/**
 * Settles a call with a plain answer. `body` is the provider's answer. Once the bill is durable,
 * the caller receives `visible`: the answer in the caller's format, or an error if the model
 * failed. Resolves to true if the answer was charged and, unless the caller has disconnected, sent.
 */
export async function concludePlain(
  closing: ClosingContext,
  candidate: Candidate,
  body: Buffer,
  visible: Buffer | AnswerError,
): Promise<boolean> {
  const { exchange, call } = closing
  if (!call.isCallerGone && !call.readsForUsageOnly) call.noteFirstByte()
  const delivery = deliveryOf(candidate, body)
  const isAnswer = Buffer.isBuffer(visible)
  // The answer is rendered before it is charged, because a deeply nested one can't be rendered.
  const events = isAnswer && isSentAsStream(closing) ? streamOf(closing, candidate, visible) : null
  if (events === UNREADABLE) return concludeWithheld(closing, candidate, body, UNREADABLE)
  const end = endOf(call, isAnswer ? 'done' : END_OF['model-fault'])
  if (!(await settle(closing, candidate, delivery, end))) {
    answerError(exchange, NO_STORE)
    return false
  }
  if (!isAnswer) return sendModelError(closing, candidate, visible)
  const isRecorded =
    isRecordable(closing, candidate) && (await recordPlain(closing, candidate, body, visible))
  const shown = isRecorded ? visible : unstored(closing, candidate, visible)
  sendPlain(closing, candidate, shown, shown === visible ? events : null)
  return true
}

const recordPlain = (
  closing: ClosingContext,
  candidate: Candidate,
  body: Buffer,
  visible: Buffer,
): Promise<boolean> =>
  recordStoredResponse(
    closing,
    candidate,
    () => visible,
    () => idsInResponse(body),
  )

/**
 * Returns the bytes to send for an answer that was not recorded (see `recordStoredResponse`). If
 * the answer was converted, they do not say that the response is stored.
 */
const unstored = (
  { request: { storesContent } }: ClosingContext,
  { conversion }: Candidate,
  bytes: Buffer,
): Buffer => (conversion !== null && storesContent === true ? withoutStoring(bytes) : bytes)

/**
 * Settles a call with a plain answer that the caller does not get, and answers with the error. The
 * answer contains a screened word, has no result or can't be converted. The caller is charged,
 * because the provider charges for the answer, and a caller can provoke such an answer. Without the
 * charge, a caller could fill the provider's cache for free, or learn from the error whether the
 * answer contains the word.
 */
export async function concludeWithheld(
  closing: ClosingContext,
  candidate: Candidate,
  body: Buffer,
  error: RelayError,
): Promise<false> {
  const delivery = deliveryOf(candidate, body)
  const end = endOf(closing.call, 'incomplete')
  const isSettled = await settle(closing, candidate, delivery, end)
  answerError(closing.exchange, isSettled ? error : NO_STORE)
  return false
}

/** Sends the error of a model that failed, after the call was settled. */
function sendModelError(
  closing: ClosingContext,
  candidate: Candidate,
  { type, message }: AnswerError,
): false {
  const error = Buffer.from(JSON.stringify({ error: { type, message } }))
  storeEventMessage(closing, candidate, error)
  const body = renderProviderError(closing, candidate, error)
  const failure = { reason: 'no-channel', errorCode: 'upstream_error', retryAfterMs: 0 } as const
  sendCallError(closing.exchange, { ...failure, status: 502, body })
  return false
}

const renderProviderError = (
  { deps, exchange }: ClosingContext,
  candidate: Candidate,
  error: Buffer,
): object =>
  providerErrorBody(candidate, error, 502, {
    ...{ errors: exchange.errors, call: exchange.call, hasGatewayStatus: true },
    isHidden: deps.views.options.options.isUpstreamErrorHidden,
  })

/**
 * Settles a streamed call. The last bytes of the stream are sent only when the bill is durable. If
 * settling fails, an error event is sent in place of these bytes, or the connection is closed if
 * the stream is audio.
 */
export async function concludeStream(
  closing: ClosingContext,
  candidate: Candidate,
  { error }: Extract<AttemptEnd, { readonly kind: 'streamed' }>,
): Promise<boolean> {
  const { exchange, call } = closing
  const { forwarder } = call
  if (forwarder === null) throw new Error('a stream has no forwarder')
  const isComplete = error === null
  const delivery = deliveryOfStream(forwarder, {
    isComplete,
    chargesInput: error !== 'error-event' && error !== 'no-result',
  })
  const end = endOf(call, isComplete ? 'done' : END_OF[error])
  const isSettled = await settle(closing, candidate, delivery, end)
  storeEventMessage(closing, candidate, forwarder.errorEvent)
  // A withheld answer is complete, but the caller must not be able to fetch it.
  const { isWithheld } = call
  const readLast = () => forwarder.terminalBytes()
  const isRecorded =
    isComplete && isSettled && !isWithheld
      ? await recordStoredResponse(closing, candidate, readLast, () => idsInEvent(readLast()))
      : false
  const { response } = exchange
  if (isAnswered(exchange)) return isComplete && !isWithheld
  if (forwarder.binaryType !== null) {
    if (isSettled && isComplete) endBinaryAnswer(exchange, forwarder)
    else if (response.headersSent) response.destroy()
    else answerError(exchange, NO_STORE)
  } else if (!isSettled) endStream(exchange, errorEvent(exchange, NO_STORE))
  else if (isComplete) {
    // Earlier events of the stream said `store: true`, but clients rely on the response in the last
    // event.
    endStream(exchange, isRecorded ? readLast() : unstored(closing, candidate, readLast()))
  } else if (error === 'caller-gone') response.destroy()
  else if (forwarder.errorEvent !== null && accountCodeIn(forwarder.errorEvent) !== null) {
    endStream(exchange, errorEvent(exchange, relayError('upstream_account')))
  } else if (forwarder.errorEvent !== null) {
    const body = renderProviderError(closing, candidate, forwarder.errorEvent)
    endStream(exchange, exchange.errors.errorEvent(body, exchange.sent))
  } else
    endStream(exchange, errorEvent(exchange, call.revokedBy ?? relayError(ERROR_CODE_OF[error])))
  return isComplete && isSettled
}

/** Sends the last bytes of an answer that is not text. */
function endBinaryAnswer(exchange: Exchange, forwarder: AnswerForwarder): void {
  writeBytes(exchange, forwarder.binaryType, forwarder.terminalBytes())
  endStream(exchange, '')
}

/**
 * Stores the message of the error `body`, with which the provider ended the stream or the model
 * failed. Does nothing if `body` is null.
 */
function storeEventMessage(
  { deps, exchange, call, caller }: ClosingContext,
  candidate: Candidate,
  body: Buffer | null,
): void {
  if (body === null) return
  const { isUpstreamErrorHidden: isHidden } = deps.views.options.options
  const isShown = !isHidden && !call.isCallerGone && accountCodeIn(body) === null
  const { userId } = caller.user
  const failed = { call: exchange.call, userId, candidate, status: null, body, isShown }
  storeProviderErrorMessage(deps, failed)
}

/**
 * Settles a call without an answer for its caller. For example, the caller disconnected or lost
 * access before the answer began, the answer is too large, or a stream begins with a screened word.
 * The input is charged, because the provider charges for the request. An answer that the provider
 * delivered is charged as well.
 */
export async function concludeAbandoned(
  closing: ClosingContext,
  candidate: Candidate,
  { error, tail, isEchoOfRequest }: Extract<AttemptEnd, { readonly kind: 'failed' }>,
): Promise<false> {
  const { exchange, call, outputHold } = closing
  const { imageFactor, choices } = candidate.request
  // A price per image is charged like any price per call, even if it is unknown whether the
  // provider completed the call.
  const isPerImage = imageFactor !== undefined && outputHold.price.mode === 'call'
  const images = isPerImage ? { images: choices } : {}
  // Nothing was sent to the caller, but the first events may have reported usage.
  const received =
    tail === undefined
      ? deliveryOfStream(call.forwarder, { isComplete: false, chargesInput: true })
      : deliveryOfTail(candidate, tail, isEchoOfRequest === true, outputHold.limits())
  const delivery = { ...received, readText: () => ({ ...received.readText(), ...images }) }
  await settle(closing, candidate, delivery, endOf(call, END_OF[error]))
  if (call.revokedBy !== null) answerError(exchange, call.revokedBy)
  else if (error !== 'caller-gone') answerError(exchange, errorOfAttempt(candidate, error))
  else exchange.response.destroy()
  return false
}

/** Ends a call whose caller has received nothing. The hold is released before the error is sent. */
export async function concludeFailedCall(
  closing: ClosingContext,
  candidate: Candidate | null,
  end: Extract<AttemptEnd, { readonly kind: 'failed' }> | null,
): Promise<false> {
  const { deps, exchange, call, ledger, unserved, caller } = closing
  const isHidden = deps.views.options.options.isUpstreamErrorHidden
  const { isCallerGone, revokedBy } = call
  const context = { isHidden, isCallerGone, errors: exchange.errors, call: exchange.call }
  const answer =
    revokedBy === null
      ? callErrorAnswer(candidate, end, { ...context, unserved })
      : callErrorAnswer(null, null, { ...context, unserved: revokedBy })
  if (candidate !== null && (end?.error === 'status' || end?.error === 'error-event')) {
    const { status, body } = end
    const isShown = 'body' in answer && !isHidden
    const { userId } = caller.user
    storeProviderErrorMessage(deps, {
      call: exchange.call,
      userId,
      candidate,
      status,
      body,
      isShown,
    })
  }
  const reason = end === null ? answer.reason : END_OF[end.error]
  try {
    await call.withinSettleDeadline(
      ledger.release(
        {
          channelId: candidate?.channel.channelId ?? null,
          reason,
          errorCode: answer.errorCode,
          statusCode: answer.status,
          ...changesOf(closing.format, candidate, true),
        },
        call.attemptHistory(),
      ),
    )
  } catch (err) {
    deps.log.error({ err, call: exchange.call }, 'a call could not be released')
  }
  sendCallError(exchange, answer)
  return false
}

/**
 * Sets the price of the images that were requested from the provider. At admission, the call had
 * the price of the most expensive images that any channel would request.
 */
function priceSentImages(
  { call, caller, outputHold }: ClosingContext,
  { request }: Candidate,
): void {
  const { price } = outputHold
  const { imageFactor, model } = request
  if (price.mode !== 'call' || price.imageFactor === undefined) return
  if (imageFactor === undefined || imageFactor === price.imageFactor) return
  const { group } = caller
  call.served = { model, group, ...call.served, price: { ...price, imageFactor } }
  outputHold.price = call.served.price
}

/** Writes the bill of a call. Returns false if writing failed. */
async function settle(
  closing: ClosingContext,
  candidate: Candidate,
  delivery: Delivery,
  end: CallEnd,
): Promise<boolean> {
  const { deps, exchange, call, ledger, outputHold } = closing
  priceSentImages(closing, candidate)
  try {
    const limits = outputHold.limits()
    const metering = meter(delivery, candidate, call.counter, limits, outputHold.price)
    const metered = metering instanceof Promise ? await metering : metering
    call.tokens = tokensOf(metered.usage)
    call.outputTokens = metered.usage.output
    const anomaly = metered.anomaly ?? mismatchIn(delivery, candidate, metered.usage, outputHold)
    const calls = outputHold.callsOf(candidate.request)
    const bill = billOf(closing, candidate, { ...metered, anomaly }, { end, limits, calls })
    call.attempts.noteAnswer({ model: delivery.answeredModel, usage: delivery.rawUsage })
    await call.withinSettleDeadline(ledger.settle(bill, call.attemptHistory()))
    return true
  } catch (err) {
    // A bill that was sent may have been written. Without one, `executePlannedCall` ends the call.
    deps.log.error({ err, call: exchange.call }, 'a call could not be settled')
    return false
  }
}
