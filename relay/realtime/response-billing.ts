import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import { isRelayError, type RelayError } from '../canonical/relay-error.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import { answerScreen } from '../screening/word-screening.ts'
import type { Views } from '../views/start-views.ts'
import { type CallContext, type CallTerms, SESSION_ENDED, SessionCall } from './call-of-session.ts'
import { ChargesInProgress } from './charges-in-progress.ts'
import { ConversationInput, DeliveredOutput } from './estimate-conversation-tokens.ts'
import { InputAudio } from './input-audio.ts'
import { planResponse } from './plan-and-connect-session.ts'
import { idOf, type ServerEvent } from './read-and-redact-provider-event.ts'
import { BYTES_PER_SECOND, billedUsage, readRealtimeUsage } from './realtime-usage.ts'
import {
  conversationUseOf,
  type RequestedResponse,
  type RunningResponse,
  RunningResponses,
} from './running-responses.ts'
import type { OutputRates } from './settings-in-force.ts'
import { type ContentSize, NO_CONTENT, textContent } from './size-of-conversation-items.ts'

/** Events that may begin a response. They are sent once a call is admitted for this response. */
type Covered = {
  readonly isRequest: boolean
  /** `covered` is the number of output tokens that the call covers. */
  readonly send: (covered: number) => Promise<void>
}

const LIMITED = { isLimited: true, isListening: false }
const UNLIMITED = { isLimited: false, isListening: false }
const OWED = { isLimited: false, isOwed: true }

/**
 * Bills the responses of a session. Each response is charged as one call. Before anything is sent
 * that may begin a response, a call is admitted, which reserves quota for this response. The
 * response that begins next is charged to this call. Before anything else is sent that may begin a
 * response, another call is admitted.
 */
export class ResponseBilling {
  readonly audio = new InputAudio()
  readonly input = new ConversationInput(this.audio)
  /** The rates that the output audio of the next response may have by the session's settings. */
  outputRates: OutputRates = () => [BYTES_PER_SECOND.pcm]
  /** The latest request whose response has not begun; null if there is none. */
  private request: RequestedResponse | null = null
  /** The number of requested responses that have not begun. */
  private expected = 0
  /** The highest output limit of the requests so far, in tokens. */
  private requestedTokensMax = 0
  /**
   * True while the provider may begin responses without a request, when the caller stops speaking.
   */
  respondsToSpeech = true
  /** True after a turn of speech whose response may still begin, even if the settings change. */
  isTurnUnanswered = false
  private next: SessionCall | null = null
  /** The price of the last response for which a call could be planned. */
  private price: PriceSnapshot | null = null
  private readonly charges = new ChargesInProgress()
  /**
   * Resolves when the last change of the admitted call is complete. Changes are made one after the
   * other.
   */
  private changed: Promise<unknown> = Promise.resolve()
  /** Resolves when no call is being admitted or assigned, without waiting for the provider. */
  private assigned: Promise<unknown> = Promise.resolve()
  private isEnded = false
  /** The code of the error with which the session ends; undefined if there is none so far. */
  endReason: RelayError['code'] | undefined = undefined
  readonly running = new RunningResponses()
  /**
   * The size of the added content when the last response ended, which the next response reads.
   * Empty if the last report did not show this size.
   */
  private settledMark: ContentSize = NO_CONTENT
  private readonly context: CallContext
  private readonly model: { readonly name: string; readonly upstream: string | null }
  private readonly views: Views

  constructor(
    context: CallContext,
    model: { readonly name: string; readonly upstream: string | null },
  ) {
    this.context = context
    this.model = model
    this.views = context.deps.views
  }

  /**
   * Records the session as the provider describes it at its beginning. The instructions and tools
   * of the session count as input of responses.
   */
  noteSession(session: unknown): void {
    this.input.add(textContent(session))
    this.context.evidence.noteSession(session)
  }

  get isBusy(): boolean {
    return this.running.size > 0 || this.isRequestPending || !this.charges.isEmpty
  }

  /**
   * Makes sure that quota is reserved for the next response: for the conversation and `more` as
   * input, and for this number of output tokens. If the account can't pay for so much output, the
   * quota covers a lower limit. Then calls `send` with the covered limit. No response can use the
   * call before `send` has sent its events. If the caller requests a response, the limits of
   * concurrent calls must have room for it in addition to the running responses. Returns the error
   * for the caller, or null.
   */
  cover(
    outputTokens: number,
    more: ContentSize,
    { isRequest, send }: Covered,
  ): Promise<RelayError | null> {
    return this.exclusively(async () => {
      const isListening = !isRequest && this.running.size > 0
      const covered = await this.beforeEnd(() =>
        this.coverNext(outputTokens, more, { isLimited: true, isListening }),
      )
      if (typeof covered !== 'number') return covered
      // The call that covers these events has ended.
      if (this.isEnded) return SESSION_ENDED
      await send(covered)
      return null
    })
  }

  private exclusively<T>(change: () => Promise<T>): Promise<T> {
    const changing = this.changed.then(change)
    this.changed = changing.catch(() => {})
    return changing
  }

  /** Makes `end` wait for `change`, so that `end` also ends a call that `change` admits. */
  private async beforeEnd<T>(change: () => Promise<T>): Promise<T | RelayError> {
    if (this.isEnded) return SESSION_ENDED
    const changing = change()
    this.assigned = changing.catch(() => {})
    return changing
  }

  private async coverNext(
    outputTokens: number,
    more: ContentSize,
    { isLimited, isListening }: { readonly isLimited: boolean; readonly isListening: boolean },
  ): Promise<number | RelayError> {
    const inputTokens = this.input.tokensAtMost(more)
    const { next } = this
    if (next !== null) {
      const full = isListening ? null : await next.claimConcurrency()
      if (full !== null) return full
      const error = await next.cover(inputTokens, outputTokens)
      const lowered = error === null ? outputTokens : next.lowerOutput(inputTokens)
      return lowered ?? error ?? outputTokens
    }
    const { deps, caller } = this.context
    const plan = planResponse(this.views, caller, this.model.name, deps.now(), this.context)
    if (isRelayError(plan)) return plan
    this.price = plan.price
    const call = await this.admit(plan.price, outputTokens, more, { isLimited, isListening })
    if (isRelayError(call)) return call
    this.next = call
    return call.outputTokens
  }

  private admit(
    price: PriceSnapshot,
    outputTokens: number,
    more: ContentSize,
    terms: Pick<CallTerms, 'isLimited' | 'isListening' | 'isOwed'>,
  ): Promise<SessionCall | RelayError> {
    return SessionCall.admit(this.context, {
      ...{ model: this.model.name, upstreamModel: this.model.upstream, price },
      ...{ inputTokens: this.input.tokensAtMost(more), outputTokens },
      ...{ isReducible: terms.isOwed !== true, ...terms },
    })
  }

  /**
   * Records that a response was requested. A call for this response must have been admitted before.
   */
  noteRequest(request: Omit<RequestedResponse, 'mark' | 'isDoubtful' | 'at'>): void {
    const { mark } = this.input
    this.request = { ...request, mark, isDoubtful: false, at: performance.now() }
    this.expected += 1
    this.requestedTokensMax = Math.max(this.requestedTokensMax, request.outputTokens)
  }

  /**
   * Records that the provider refused an event. A call that was admitted for it is kept for the
   * next response. Without an id, the latest request is doubtful.
   */
  noteRefused(eventId: unknown): void {
    const { request } = this
    if (request === null) return
    if (eventId === undefined || eventId === null) request.isDoubtful = true
    if (request.eventId !== eventId) return
    this.request = null
    this.expected = Math.max(0, this.expected - 1)
  }

  /** The time of the pending request, by `performance.now()`; null if there is none. */
  get requestedAt(): number | null {
    return this.isRequestPending ? (this.request?.at ?? null) : null
  }

  /**
   * True while a requested response has not begun, unless an error of the provider may be about the
   * request. While this is true, the next request for a response must wait.
   */
  get isRequestPending(): boolean {
    return this.request?.isDoubtful === false
  }

  /**
   * Assigns the admitted call to a response that has begun. If no admitted call is left, because
   * the provider has begun several responses, another call is admitted. Returns an error if a limit
   * is reached or the caller can't pay or has lost access. The response is charged nevertheless,
   * and the gateway must cancel it.
   */
  begin(event: ServerEvent, outputTokens: number): Promise<RelayError | null> {
    return this.exclusively(() => this.beforeEnd(() => this.beginNext(event, outputTokens)))
  }

  private async beginNext(event: ServerEvent, outputTokens: number): Promise<RelayError | null> {
    const { response } = event
    const id = idOf(response)
    if (this.running.isRepeatedBeginning(id, this.expected > 0)) return null
    const { request } = this
    // A response that neither the caller nor speech has requested is neither charged nor shown.
    const isBySpeech = this.respondsToSpeech || this.isTurnUnanswered
    if (this.expected === 0 && !isBySpeech) {
      this.running.addUnrequested(id)
      return null
    }
    const uncovered = this.next === null ? await this.admitBegun(outputTokens) : null
    const { next: call } = this
    if (call === null) return uncovered
    const error = uncovered ?? (await call.claimConcurrency())
    this.next = null
    this.request = null
    // A response to speech may begin before a requested one, so each beginning counts for only one.
    if (this.expected > 0) this.expected -= 1
    else this.isTurnUnanswered = false
    call.begin()
    const { deps, caller } = this.context
    const screen = answerScreen(deps.views.options.options.screening, caller.group)
    const { outputRates } = this
    const own = request?.outputRate === undefined ? [] : [request.outputRate]
    // The request may be for another response only if speech may have begun this one.
    const isRateKnown = own.length > 0 && !isBySpeech
    this.running.add({
      ...{ id, call, screen, output: new DeliveredOutput() },
      ...conversationUseOf(response, request),
      input: this.input.estimate(request?.content),
      mark: request?.mark ?? this.settledMark,
      outputRates: () => (isRateKnown ? own : [...outputRates(), ...own]),
    })
    return error
  }

  /**
   * Admits a call for a response that the provider has already begun. The response is charged
   * regardless of all limits, and even if the caller has lost access or can't pay. Returns the
   * error for the caller, or null.
   */
  private async admitBegun(sessionTokensMax: number): Promise<RelayError | null> {
    // Speech may have begun a response that has taken the call of a requested response.
    const outputTokens = Math.max(sessionTokensMax, this.requestedTokensMax)
    const refused = await this.coverNext(outputTokens, NO_CONTENT, LIMITED)
    if (typeof refused === 'number') return null
    const covered = isLimitError(refused)
      ? await this.coverNext(outputTokens, NO_CONTENT, UNLIMITED)
      : refused
    if (typeof covered === 'number' || this.price === null) return refused
    const call = await this.admit(this.price, outputTokens, NO_CONTENT, OWED)
    if (!isRelayError(call)) {
      this.next = call
      return covered
    }
    const { log } = this.context.deps
    log.error({ code: call.code }, 'a response of a realtime session is not charged')
    return call
  }

  /**
   * Charges a response that has ended, unless it was charged before. Returns false if the charge
   * could not be written, and null if the response is not charged and not shown. `bytes` are the
   * bytes of the event.
   */
  async settle(event: ServerEvent, outputTokens: number, bytes: Buffer): Promise<boolean | null> {
    const response = isObject(event.response) ? event.response : {}
    const id = idOf(response)
    if (this.running.hasEnded(id)) return true
    if (this.running.isUnrequested(id)) return null
    // An end without an id can belong only to a response that has begun or was requested.
    const isNew =
      id === '' ? this.running.size === 0 && this.expected > 0 : !this.running.isCharged(id)
    const error = isNew ? await this.begin(event, outputTokens) : null
    const running = this.running.end(id)
    if (isNew && id === '') this.running.noteEndBeforeBeginning()
    if (running === undefined) return error === null ? null : false
    if (this.running.size === 0) this.next?.takeOver(running.call)
    return this.charges.track(running.call.endAfter(() => this.charge(running, response, bytes)))
  }

  private async charge(
    running: RunningResponse,
    response: JsonObject,
    bytes: Buffer,
  ): Promise<boolean> {
    const { usage: raw, status } = response
    const { call, mark } = running
    const counted = this.countedUsage(running)
    const bounds = {
      inputCeiling: call.inputCeiling,
      outputCeiling: call.outputTokens * 2 + 100_000,
    }
    const report = isObject(raw) ? readRealtimeUsage(raw, bounds, call.onUnreadable) : null
    if (report === null && status === 'failed') {
      await call.release('upstream-error', 'upstream_error')
      return true
    }
    const isWhole = status === 'completed' || status === 'incomplete'
    const bill = billedUsage(report, counted, call.price, isWhole)
    if (running.isInConversation) {
      const isOnly = this.running.size === 0 && this.request === null
      const isExact = report?.isTrusted === true && isOnly && running.hasConversationAsInput
      if (isExact) this.input.noteReport(bill.usage, mark)
      else this.input.noteOutput(bill.usage)
      this.settledMark = isExact ? this.input.mark : NO_CONTENT
    }
    const isCancelled = status === 'cancelled'
    const ending = isCancelled ? { endReason: this.endReason } : {}
    const end = isCancelled ? 'incomplete' : 'done'
    return call.settle(bill, end, { ...ending, response: { response, bytes } })
  }

  private countedUsage({ input, output, outputRates }: RunningResponse): Usage {
    return { ...input, ...output.usage(Math.min(...outputRates())) }
  }

  watch(now: number): void {
    this.next?.watch(now, () => NO_USAGE)
    for (const running of this.running.all) {
      const { call, output } = running
      call.watch(now, () => (output.isEmpty ? NO_USAGE : this.countedUsage(running)))
    }
  }

  /** Returns the error that ends the session if the caller has lost access, and otherwise null. */
  accessError(): RelayError | null {
    const [running] = this.running.all
    const call = this.next ?? running?.call
    return call === undefined ? null : call.access()
  }

  /**
   * Ends all calls. A response without an end is charged by what was delivered, unless nothing was
   * and the provider or the gateway failed. If the caller ends the session, a requested response
   * that has not begun is charged for its input, as at the provider. A call that is being admitted
   * is ended, too, because its hold and permits would remain. First waits for charges that are
   * being written.
   */
  async end(isCallers: boolean): Promise<void> {
    this.isEnded = true
    await this.assigned
    await this.charges.allWritten()
    const running = this.running.endAll()
    const { next, request, isRequestPending: isRequested, endReason } = this
    this.next = null
    this.request = null
    const ended = isCallers ? 'client-gone' : 'incomplete'
    const settle = (call: SessionCall, usage: Usage) =>
      call.settle(billedUsage(null, usage, call.price, false), ended, { endReason })
    const endNext = (call: SessionCall) => {
      if (!isRequested) return call.release('client-gone', 'client_gone')
      if (!isCallers) return call.releaseCut(endReason)
      return settle(call, this.input.estimate(request?.content))
    }
    await Promise.all([
      ...running.map((each) =>
        !isCallers && each.output.isEmpty
          ? each.call.releaseCut(endReason)
          : settle(each.call, this.countedUsage(each)),
      ),
      next === null ? null : endNext(next),
    ])
  }
}
