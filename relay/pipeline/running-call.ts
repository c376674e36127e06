import type { Served } from '#domain/accounts/events.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import type { CountAnswer } from '#relay/token-counts/count-job.ts'
import type { UserTokenCounter } from '#relay/token-counts/token-counter.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { isInBackground } from '../dialects/price-conditions-of-call.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import { authorizedCall } from '../providers/profiles/provider-target.ts'
import type { AnswerScreen } from '../screening/word-screening.ts'
import type { RelayKey } from '../views/channel-view.ts'
import type { AccessCheck } from './access-check-of-running-calls.ts'
import { adapterOf } from './adapt-image-request.ts'
import type { AnswerForwarder } from './answer-forwarder-types.ts'
import type { AttemptEnd, AttemptError } from './attempt-end-types.ts'
import { AttemptList } from './attempt-list.ts'
import { CancellableBackgroundResponse } from './background-response-left-running.ts'
import { usageSoFar } from './billed-usage.ts'
import { buildProviderCall } from './build-provider-call.ts'
import type { Deadlines, TimerListener } from './call-deadlines-and-timer.ts'
import type { AttemptHistory, CallLedger } from './call-ledger.ts'
import { type Cancellations, responseLeftRunning } from './cancel-background-responses.ts'
import { forwarderOf, needsForwarder } from './create-answer-forwarder.ts'
import { estimateUsageSoFar } from './estimate-usage-so-far.ts'
import { answerError, ERROR_CODE_OF } from './failed-call-answer.ts'
import type { Exchange } from './http-exchange.ts'
import { logUnreadableAnswer } from './log-unreadable-answer.ts'
import { markAnswerThatRepeatsRequest } from './mark-answer-that-repeats-request.ts'
import { mustReadUsage } from './must-read-usage-after-disconnect.ts'
import type { OutputHoldTracker } from './output-hold-tracker.ts'
import type { Candidate } from './prepare-request-for-channel.ts'
import { attemptInProgress } from './recorded-request-changes.ts'
import { showProviderHeaders, showRateLimits } from './show-provider-headers-to-caller.ts'
import { StreamPing } from './stream-ping.ts'
import { decoderFor, transportOf } from './translate-chat-to-proprietary-api.ts'
import { UpstreamAttempt } from './upstream-attempt.ts'

type Deps = {
  readonly via: Outbound['via']
  readonly deadlines: Deadlines
  readonly counter: UserTokenCounter
  readonly pingIntervalMs: number | null
  readonly access: AccessCheck
  readonly screen: AnswerScreen | null
  readonly outputHold: OutputHoldTracker
  readonly cancellations: Cancellations
}

/** The milliseconds before a hold is raised again if the event store could not be reached. */
const RAISE_AGAIN_MS = 1_000

/** A running call with its attempts and deadlines. Its caller may disconnect at any time. */
export class RunningCall implements TimerListener {
  readonly attempts = new AttemptList()
  /** Cancellations that must end before the call ends. */
  readonly pendingCancellations: Promise<void>[] = []
  /** The model, group and price of the last attempt, or null if those of the admission apply. */
  served: Served | null = null
  forwarder: AnswerForwarder | null = null
  isCallerGone = false
  /** The time at which reading for the usage alone ends; 0 while the caller gets the answer. */
  private readForUsageUntil = 0
  private isRaising = false
  private raiseNotBefore = 0
  /** True when the account or the token can't pay for a larger hold. */
  private isSpent = false
  /** The reason why the caller lost access or gets no more of the answer, or null. */
  revokedBy: RelayError | null = null
  /** True if the finished answer has a screened word. Such an answer can't be fetched later. */
  isWithheld = false
  private accessCheckedAt = performance.now()
  /** The number of tokens that the call used; 0 until the tokens are counted. */
  tokens = 0
  outputTokens = 0
  /** The key of the last attempt, or null before the first attempt. */
  keyRef: string | null = null
  private readonly deps: Deps
  private readonly exchange: Exchange
  private readonly request: ChatRequest
  private readonly ledger: CallLedger
  private attempt: UpstreamAttempt | null = null
  /** The channel of the last attempt, or null before the first attempt. */
  private candidate: Candidate | null = null
  /**
   * The provider's id of the last attempt's request, or null if it is not logged. It is never sent
   * to the caller.
   */
  providerRequestId: string | null = null
  /** The id of the channel that the running attempt uses, or null between attempts. */
  channelUnderWay: number | null = null
  private firstByteAt: number | null = null
  private renewedAt = performance.now()
  private progressBytes = 0
  /** The provider's unparsed usage report at the time of the last progress event. */
  private progressUsage: unknown
  private countedInput: Promise<CountAnswer> | null = null
  private readonly ping: StreamPing
  /** Stops work that follows the attempt, such as image downloads; null without such work. */
  onAbort: (() => void) | null = null
  private onLate: (() => void) | null = null
  private lateAt = 0

  constructor(deps: Deps, exchange: Exchange, request: ChatRequest, ledger: CallLedger) {
    this.deps = deps
    this.exchange = exchange
    this.request = request
    this.ledger = ledger
    const { ping } = request.format.stream
    const intervalMs = request.isStream ? deps.pingIntervalMs : null
    this.ping = new StreamPing(exchange, intervalMs, ping)
    const { response } = exchange
    response.on('drain', () => this.resume())
    response.on('close', () => {
      if (!response.writableFinished) this.onCallerGone()
    })
    // The caller may have disconnected before the listener was registered.
    if (response.destroyed) this.isCallerGone = true
  }

  /** Makes one attempt at a channel with one key. */
  async tryAt(candidate: Candidate, { target, keyRef }: RelayKey): Promise<AttemptEnd> {
    this.keyRef = keyRef
    const { deadlines, via, cancellations } = this.deps
    const { channelId } = candidate.channel
    const startedAt = performance.now()
    const { isStream } = this.request
    const { format } = candidate.request
    const isBackground = isStream && isInBackground(candidate.request)
    const background = isBackground ? new CancellableBackgroundResponse() : null
    this.candidate = candidate
    this.forwarder = needsForwarder(this.request) ? this.newForwarder(candidate, background) : null
    // The first event of an image stream may be the complete image, which takes longer.
    const isEarly = isStream && format.stream.isAlwaysReadOn !== true
    this.providerRequestId = null
    if (this.attempts.items.length > 0) showRateLimits(this.exchange, {}, [])
    const adapter = adapterOf(candidate, target)
    this.attempt = new UpstreamAttempt(format, this.forwarder, deadlines, {
      answerStartMs: deadlines[isEarly ? 'firstEventMs' : 'plainAnswerStartMs'],
      onHeaders: (headers) => {
        this.providerRequestId = showProviderHeaders(this.exchange, candidate, headers)
      },
      decoder: decoderFor(candidate, target, this.exchange.call),
      adaptAnswer: adapter?.answer,
      // A caller whose connection accepts no bytes is disconnected. The relay then reads the
      // response to its end without the caller.
      onWriteStall: isBackground ? () => this.exchange.response.destroy() : undefined,
      onException: (err) => logUnreadableAnswer(this.exchange, channelId, err),
    })
    const { request: incoming, call: id, log } = this.exchange
    const call = buildProviderCall(candidate, target, incoming.headers, ['x-request-id', id])
    const connections = via(target.proxy)
    this.channelUnderWay = channelId
    const transport = transportOf(target, connections, call.origin, adapter?.task)
    const ended = await this.attempt.start(transport, authorizedCall(target, call, connections))
    const end = markAnswerThatRepeatsRequest(ended, candidate.request, candidate.body)
    this.channelUnderWay = null
    if (end.status === 401) target.cloud?.dropCredentials()
    const latencyMs = Math.round(performance.now() - startedAt)
    const sentAt = this.exchange.startedAt + Math.round(startedAt - this.exchange.arrivedAt)
    const adding = this.attempts.add(this.attempt, { channelId, target, end, sentAt, latencyMs })
    if (adding !== null) await adding
    const left = responseLeftRunning(end, background, format)
    if (left !== null)
      cancellations.begin(left, { target, call, connections, log }, this.pendingCancellations)
    return end
  }

  noteFirstByte(): void {
    this.firstByteAt ??= performance.now()
  }

  attemptHistory(): AttemptHistory {
    const { firstByteAt, attempts, exchange } = this
    const firstByteMs = firstByteAt === null ? null : Math.round(firstByteAt - exchange.arrivedAt)
    return { attempts: attempts.items, firstByteMs }
  }

  /**
   * Ends the running attempt. The reason `error` is recorded only if the caller is still connected
   * and has access.
   */
  abort(error: AttemptError): void {
    this.onAbort?.()
    const { revokedBy } = this
    if (this.isCallerGone) this.attempt?.abort('caller-gone')
    else if (revokedBy?.code === 'balance_spent') this.attempt?.abort('balance-spent')
    else this.attempt?.abort(revokedBy === null ? error : 'revoked')
  }

  canContinue(now: number): boolean {
    return !this.isCallerGone && this.revokedBy === null && !this.isOutOfTime(now)
  }

  /** True while the answer is read only for its usage. */
  get readsForUsageOnly(): boolean {
    return this.readForUsageUntil > 0
  }

  onTick(now: number): boolean {
    if (this.lateAt > 0 && now > this.lateAt) this.onLate?.()
    this.attempt?.onTick(now)
    if (this.ledger.hasEnded) return !this.isOver()
    if (this.isOutOfTime(now)) this.abort('timeout')
    if (this.readsForUsageOnly && now > this.readForUsageUntil) this.abort('caller-gone')
    this.checkAccess(now)
    this.ping.onTick(this.forwarder, now)
    this.renew(now)
    return true
  }

  private checkAccess(now: number): void {
    if (now - this.accessCheckedAt < this.deps.deadlines.accessCheckMs) return
    this.accessCheckedAt = now
    const error = this.deps.access()
    if (error !== null) this.endAccess(error)
  }

  /**
   * Stops the delivery of the answer with `error`, because the caller has lost access, can't pay or
   * must not see the answer. If the answer is read on for its usage, the error is sent now. If not,
   * the attempt ends. The provider's answer is still charged, so that a revoked token does not make
   * a call cheaper.
   */
  private endAccess(error: RelayError): void {
    if (this.readsForUsageOnly || this.isCallerGone) return
    this.revokedBy = error
    if (this.continueForUsage()) answerError(this.exchange, error)
    else this.abort('revoked')
  }

  /**
   * Withholds a finished answer with a screened word. Its usage is charged as if the caller had
   * disconnected at this point.
   */
  private withhold(): void {
    this.isWithheld = true
    if (this.readsForUsageOnly) this.continueForUsage()
    else this.endAccess(relayError(ERROR_CODE_OF.screened))
  }

  private isOutOfTime(now: number): boolean {
    return now - this.exchange.arrivedAt > this.deps.deadlines.totalMs
  }

  /** Resolves once the end of the call is durable. Rejects after `settleMs`. */
  withinSettleDeadline(closing: Promise<void>): Promise<void> {
    this.lateAt = performance.now() + this.deps.deadlines.settleMs
    return new Promise((resolve, reject) => {
      this.onLate = () => reject(new Error('the end of the call was not written in time'))
      closing.then(resolve, reject)
    })
  }

  /** Reports whether the ledger, the response and the provider's connection have ended. */
  isOver(): boolean {
    const { response } = this.exchange
    const isAnswered = this.ledger.hasEnded && (response.writableEnded || response.destroyed)
    return isAnswered && (this.attempt === null || this.attempt.isClosed)
  }

  get counter(): UserTokenCounter {
    return this.deps.counter
  }

  private onCallerGone(): void {
    this.isCallerGone = true
    if (!this.readsForUsageOnly && !this.continueForUsage()) this.abort('caller-gone')
  }

  /**
   * Continues to read the answer for its usage after the caller has disconnected or lost access.
   * Plain answers and background responses are read on, because the provider charges for them.
   * Other streams are read on only if `mustReadUsage` returns true. Returns false if the answer is
   * not read on, for example while the credentials of the request are still being obtained.
   */
  private continueForUsage(): boolean {
    const { attempt, forwarder } = this
    if (attempt === null || !attempt.isRunning || !attempt.isSent) return false
    const { isPlain } = attempt
    const request = this.candidate?.request
    const isBackground = request !== undefined && isInBackground(request)
    if (!isPlain && !isBackground && !mustReadUsage(forwarder, this.candidate)) return false
    const { readOnPlainMs, readOnStreamMs } = this.deps.deadlines
    const isGenerated = isBackground && !this.isWithheld
    const readsToEnd = isPlain || isGenerated || request?.format.stream.isAlwaysReadOn === true
    const until = performance.now() + (readsToEnd ? readOnPlainMs : readOnStreamMs)
    this.readForUsageUntil = this.readsForUsageOnly
      ? Math.min(this.readForUsageUntil, until)
      : until
    if (!isPlain) forwarder?.continueForUsage(readsToEnd)
    attempt.continueForUsage()
    return true
  }

  private checkOutputHold(): void {
    const { forwarder } = this
    if (forwarder === null) return
    const verdict = this.deps.outputHold.decide(forwarder.delivered)
    if (verdict === 'continue') return
    if (verdict === 'over-limit') return forwarder.endWith('over-limit')
    if (verdict === 'wait') {
      if (this.isSpent) return forwarder.endWith('balance-spent')
      forwarder.pause()
    } else if (performance.now() < this.raiseNotBefore) return
    if (!this.isSpent) void this.raiseHold(verdict === 'wait')
  }

  /**
   * Resumes reading from the provider. Does nothing while the hold is being raised or the caller's
   * connection accepts no bytes.
   */
  private resume(): void {
    const isBlocked = !this.readsForUsageOnly && this.exchange.response.writableNeedDrain
    if (!this.isRaising && !isBlocked) this.attempt?.resume()
  }

  /**
   * Raises the hold of an open-ended stream. If the account can't pay for more, the stream ends
   * when its hold is used up. `isWaiting` is true if the stream is paused until its hold is raised.
   * If the event store can't be reached, a paused stream ends. Any other stream tries again later.
   */
  private async raiseHold(isWaiting: boolean): Promise<void> {
    if (this.isRaising) return
    this.isRaising = true
    const { outputHold } = this.deps
    const { hold, least } = outputHold.nextHold()
    const before = this.ledger.hold
    const held = await this.ledger.raiseHold(hold, least).catch(() => 'unreachable' as const)
    this.isRaising = false
    if (held === 'unreachable') {
      if (isWaiting) return this.abort('store-unavailable')
      this.raiseNotBefore = performance.now() + RAISE_AGAIN_MS
    } else if (held === null || (held <= before && held < hold)) this.isSpent = true
    else outputHold.noteHold(held)
    this.checkOutputHold()
    if (this.forwarder?.verdict === 'balance-spent') this.abort('balance-spent')
    else this.resume()
  }

  private newForwarder(
    candidate: Candidate,
    background: CancellableBackgroundResponse | null,
  ): AnswerForwarder {
    const { screen, outputHold } = this.deps
    return forwarderOf(this.exchange, this.request, candidate, {
      screen,
      price: outputHold.price,
      background,
      onScreenedAtEnd: () => this.withhold(),
      onFirstByte: () => this.noteFirstByte(),
      onDelivered: () => this.checkOutputHold(),
    })
  }

  private renew(now: number): void {
    const { renewMs, progressMs, progressBytes } = this.deps.deadlines
    const bytes = this.forwarder?.delivered.bytes ?? 0
    const rawUsage = this.forwarder?.rawUsage
    const newBytes = bytes - this.progressBytes
    const hasChanged = newBytes > 0 || rawUsage !== this.progressUsage
    const sinceMs = now - this.renewedAt
    const isProgress = newBytes >= progressBytes || (hasChanged && sinceMs >= progressMs)
    if (!isProgress && sinceMs < renewMs) return
    this.renewedAt = now
    this.progressBytes = bytes
    this.progressUsage = rawUsage
    // A failure is ignored, because the next renewal replaces this one.
    this.recordProgress().catch(() => {})
  }

  private async recordProgress(): Promise<void> {
    const attempt = attemptInProgress(this.request.format, this.candidate, this.deps.outputHold)
    const { leaseMs } = this.deps.deadlines
    const usage = await this.chargeableUsage()
    const served = this.served === null ? {} : { served: this.served }
    const exhaustedCode = await this.ledger.progress({ ...attempt, ...served }, usage, leaseMs)
    if (exhaustedCode === null) return
    this.endAccess(relayError(exhaustedCode))
    // The balance or the budget is empty, so the lease was not renewed. Reading must stop before
    // the lease expires. Otherwise, the sweeper would end a plain answer without a charge.
    if (this.readsForUsageOnly) {
      this.readForUsageUntil = Math.min(this.readForUsageUntil, performance.now() + leaseMs / 2)
    }
  }

  /** Returns the usage to charge if this process dies. The output so far is only estimated. */
  private async chargeableUsage(): Promise<Usage> {
    const { forwarder, candidate } = this
    if (candidate === null || forwarder?.hasDelivered !== true) return NO_USAGE
    this.countedInput ??= this.counter.count({ requestBody: this.request.body, text: '' })
    const { input } = await this.countedInput
    const inputUncached = input + (this.request.stored?.tokens ?? 0)
    const { outputHold } = this.deps
    const { delivered } = forwarder
    const inputs = { input, inputUncached }
    const counted = estimateUsageSoFar(delivered, candidate.request, inputs, outputHold.price)
    return usageSoFar(forwarder.rawUsage, counted, candidate, outputHold.limits(), outputHold.price)
  }
}
