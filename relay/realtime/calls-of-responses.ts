import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { isLimitError } from '../pipeline/acquire-call-permit.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { type AnswerScreen, answerScreen } from '../screening/word-screening.ts'
import type { Views } from '../views/start-views.ts'
import { ConversationInput, DeliveredOutput, isAudio } from './estimate-conversation-input.ts'
import { planRealtime } from './open-upstream.ts'
import type { ServerEvent } from './read-and-redact-provider-event.ts'
import { idOf } from './read-and-redact-provider-event.ts'
import { type CallContext, RealtimeCall } from './realtime-call.ts'
import { billedUsage, readRealtimeUsage } from './realtime-usage.ts'
import { type Content, isObject, NO_CONTENT, textContent } from './size-of-conversation-items.ts'

/** A response that the provider is generating. */
type Running = {
  readonly call: RealtimeCall
  readonly output: DeliveredOutput
  readonly input: Usage
  readonly mark: Content
  /** False for a response that is not a part of the conversation. */
  readonly isInConversation: boolean
  /** Checks the text for screened words; null if it is not checked. */
  readonly screen: AnswerScreen | null
}

/** A request for a response to which the provider has not yet answered. */
type Request = {
  readonly eventId: string
  readonly mark: Content
  readonly isInConversation: boolean
  /**
   * True after an error that does not name the refused event, so that this request may be the
   * refused one.
   */
  isDoubtful: boolean
  /** The time of the request by `performance.now()`. */
  readonly at: number
}

const ENDED_MAX = 256

/**
 * The calls of a session's responses. One call is admitted before anything is sent with which a
 * response may begin. The response that begins takes this call, and the next one is admitted before
 * anything else is sent.
 */
export class SessionCalls {
  readonly input = new ConversationInput()
  /** The request that waits for its response; null if there is none. */
  private request: Request | null = null
  /** The number of requested responses that have not begun. */
  private expected = 0
  /** True while the provider may begin responses on its own. */
  respondsToSpeech = true
  private next: RealtimeCall | null = null
  /** The number of charges that are being written. */
  private settling = 0
  /** Resolves when the admitted call is no longer being changed. */
  private changed: Promise<unknown> = Promise.resolve()
  private readonly running = new Map<string, Running>()
  /** The ids of the last responses that were charged. */
  private readonly ended = new Set<string>()
  /**
   * The size of the content that was added before the last response ended. It is certainly input of
   * the next response.
   */
  private settledMark: Content = NO_CONTENT
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

  /** Notes the session as the provider describes it when it begins. */
  noteSession(session: unknown): void {
    this.input.add(textContent(session))
    this.context.evidence.noteSession(session)
  }

  get isBusy(): boolean {
    return this.running.size > 0 || this.isRequestPending || this.settling > 0
  }

  get runningIds(): readonly string[] {
    return [...this.running.keys()]
  }

  /**
   * Makes sure that a call covers the next response, with the conversation, `more` and this output.
   * Then calls `send` with the output limit that is covered, which may be lower. No response can
   * take the call before `send` has sent its events.
   */
  cover(
    outputTokens: number,
    more: Content,
    send: (covered: number) => Promise<void>,
  ): Promise<RelayError | null> {
    return this.exclusively(async () => {
      const covered = await this.coverNext(outputTokens, more)
      if (typeof covered !== 'number') return covered
      await send(covered)
      return null
    })
  }

  private exclusively<T>(change: () => Promise<T>): Promise<T> {
    const changing = this.changed.then(change)
    this.changed = changing.catch(() => {})
    return changing
  }

  private async coverNext(
    outputTokens: number,
    more: Content,
    isLimited = true,
  ): Promise<number | RelayError> {
    const inputTokens = this.input.tokensAtMost(more)
    const { next } = this
    if (next !== null) {
      const error = await next.cover(inputTokens, outputTokens)
      const lowered = error === null ? outputTokens : next.lowerOutput(inputTokens)
      return lowered ?? error ?? outputTokens
    }
    const { deps, caller, channel, keyRef } = this.context
    const plan = planRealtime(this.views, this.currentCaller(caller), this.model.name, deps.now())
    if (isRelayError(plan)) return plan
    const isOffered = plan.offer.some(({ channels }) =>
      channels.some(
        ({ channelId, keys }) =>
          channelId === channel.channelId && keys.some((key) => key.keyRef === keyRef),
      ),
    )
    if (!isOffered) {
      return relayError('no_channel', { param: 'model', subject: this.model.name, retryAfter: 10 })
    }
    const call = await RealtimeCall.admit(this.context, {
      ...{ model: this.model.name, upstreamModel: this.model.upstream, price: plan.price },
      ...{ inputTokens, outputTokens, isReducible: true, isLimited },
    })
    if (isRelayError(call)) return call
    this.next = call
    return call.outputTokens
  }

  /** Returns the caller with the current terms of its token. */
  private currentCaller(caller: Caller): Caller {
    const token = this.views.tokens.find(caller.token.keyLookup)
    return token === undefined ? caller : { ...caller, token }
  }

  /** Records that a response was requested. A call must have been admitted for it before. */
  noteRequest(eventId: string, isInConversation: boolean): void {
    const { mark } = this.input
    const at = performance.now()
    this.request = { eventId, isInConversation, mark, isDoubtful: false, at }
    this.expected += 1
  }

  /** Notes that the provider refused an event. Its call covers the next response. */
  noteRefused(eventId: unknown): void {
    const { request } = this
    if (request === null) return
    if (eventId === undefined || eventId === null) request.isDoubtful = true
    if (request.eventId !== eventId) return
    this.request = null
    this.expected = Math.max(0, this.expected - 1)
  }

  /** Returns the time of the request that waits for its response; null if there is none. */
  get requestedAt(): number | null {
    return this.isRequestPending ? (this.request?.at ?? null) : null
  }

  /** True if the next request for a response must wait. */
  get isRequestPending(): boolean {
    return this.request?.isDoubtful === false
  }

  /**
   * Assigns the admitted call to a response that has begun. If the provider begins further
   * responses at once, a further call is admitted for each of them. Returns an error if a call
   * can't be admitted. If a limit of calls is reached, the response is charged nevertheless and
   * must be cancelled.
   */
  begin(event: ServerEvent, outputTokens: number): Promise<RelayError | null> {
    return this.exclusively(() => this.beginNext(event, outputTokens))
  }

  private async beginNext(event: ServerEvent, outputTokens: number): Promise<RelayError | null> {
    const { response } = event
    const id = idOf(response)
    if (this.running.has(id) || this.ended.has(id)) return null
    const { request } = this
    // A response that nobody requested is not charged.
    if (this.expected === 0 && !this.respondsToSpeech) return null
    let limitError: RelayError | null = null
    if (this.next === null) {
      const limited = await this.coverNext(outputTokens, NO_CONTENT)
      if (typeof limited !== 'number' && isLimitError(limited)) limitError = limited
      const covered =
        limitError === null ? limited : await this.coverNext(outputTokens, NO_CONTENT, false)
      if (typeof covered !== 'number') return covered
    }
    const { next: call } = this
    if (call === null) return null
    this.next = null
    this.request = null
    this.expected = Math.max(0, this.expected - 1)
    call.begin()
    const { deps, caller } = this.context
    const screen = answerScreen(deps.views.options.options.screening, caller.group)
    const isOutside = isObject(response) && response.conversation_id === null
    this.running.set(id, {
      ...{ call, screen, output: new DeliveredOutput(), input: this.input.estimate() },
      mark: request?.mark ?? this.settledMark,
      isInConversation: request?.isInConversation !== false && !isOutside,
    })
    return limitError
  }

  /** Notes a part of a response. Returns false if it contains a screened word. */
  noteDelta({ type, response_id, delta }: ServerEvent): boolean {
    const [only] = this.running.size === 1 ? this.running.values() : []
    const response = this.running.get(String(response_id)) ?? only
    response?.call.noteFirstByte()
    response?.output.add(type, delta)
    const isText = typeof delta === 'string' && !isAudio(type)
    return !isText || response?.screen?.isCleanText(delta) !== false
  }

  /**
   * Charges a response that has ended. Returns false if the charge could not be written. A response
   * that was charged before is not charged again.
   */
  async settle(event: ServerEvent, outputTokens: number, bytes: Buffer): Promise<boolean> {
    const response = isObject(event.response) ? event.response : {}
    const id = idOf(response)
    if (this.ended.has(id)) return true
    const error = this.running.has(id) ? null : await this.begin(event, outputTokens)
    if (error !== null && !isLimitError(error)) return false
    const running = this.running.get(id)
    if (running === undefined) return true
    this.running.delete(id)
    this.remember(id)
    this.settling += 1
    try {
      return await this.charge(running, response, bytes)
    } finally {
      this.settling -= 1
    }
  }

  private async charge(
    running: Running,
    response: Readonly<Record<string, unknown>>,
    bytes: Buffer,
  ): Promise<boolean> {
    const { usage: raw, status } = response
    const { call, mark } = running
    const counted = this.countedUsage(running)
    const bounds = {
      inputCeiling: call.inputCeiling,
      outputCeiling: call.outputTokens * 2 + 100_000,
    }
    const report = isObject(raw) ? readRealtimeUsage(raw, bounds) : null
    if (report === null && status === 'failed') {
      await call.release('upstream-error', 'upstream_error')
      return true
    }
    const isWhole = status === 'completed' || status === 'incomplete'
    const bill = billedUsage(report, counted, call.price, isWhole)
    if (running.isInConversation) {
      const isExact = report?.isTrusted === true && this.running.size === 0 && this.request === null
      if (isExact) this.input.noteReport(bill.usage, mark)
      else this.input.noteOutput(bill.usage)
      this.settledMark = isExact ? this.input.mark : NO_CONTENT
    }
    const end = status === 'cancelled' ? 'incomplete' : 'done'
    return call.settle(bill, end, { response: { response, bytes } })
  }

  private remember(id: string): void {
    // Responses without an id can't be told apart.
    if (id !== '') this.ended.add(id)
    const [oldest] = this.ended
    if (this.ended.size > ENDED_MAX && oldest !== undefined) this.ended.delete(oldest)
  }

  private countedUsage({ input, output }: Running): Usage {
    return { ...input, ...output.usage(this.input.rate) }
  }

  watch(now: number): void {
    this.next?.watch(now, () => NO_USAGE)
    for (const running of this.running.values()) {
      const { call, output } = running
      call.watch(now, () => (output.isEmpty ? NO_USAGE : this.countedUsage(running)))
    }
  }

  /** Returns the error with which the session must end, or null. */
  accessError(): RelayError | null {
    const [running] = this.running.values()
    const call = this.next ?? running?.call
    return call === undefined ? null : call.access()
  }

  /**
   * Ends all calls. A response without an end is charged by what was delivered. A response that was
   * requested but has not begun is charged for its input if the caller ends the session, because
   * the provider charges for the request.
   */
  async end(isCallers: boolean, endReason?: string): Promise<void> {
    const running = [...this.running.values()]
    this.running.clear()
    const { next } = this
    const isRequested = this.isRequestPending
    this.next = null
    this.request = null
    const ended = isCallers ? 'client-gone' : 'incomplete'
    const settle = (call: RealtimeCall, usage: Usage) =>
      call.settle(billedUsage(null, usage, call.price, false), ended, { endReason })
    const charged = isCallers && isRequested
    await Promise.all([
      ...running.map((each) =>
        !isCallers && each.output.isEmpty
          ? each.call.release('incomplete', 'upstream_incomplete')
          : settle(each.call, this.countedUsage(each)),
      ),
      charged && next !== null
        ? settle(next, this.input.estimate())
        : next?.release('client-gone', 'client_gone'),
    ])
  }
}
