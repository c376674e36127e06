import type { Attempt } from '#domain/account/events.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import type { Outbound } from '#infra/outbound/dispatcher.ts'
import type { CountAnswer } from '#relay/token-counts/count-job.ts'
import type { UserTokenCounter } from '#relay/token-counts/token-counter.ts'
import type { RelayErrorCode } from '../canonical/relay-error.ts'
import type { ChatRequest } from '../dialects/openai-chat/chat-request.ts'
import { chatPathOf } from '../providers/openai-compatible/target.ts'
import type { AnswerScreen } from '../screening/screening.ts'
import { type Place, placeOf, type RelayKey } from '../views/channel-view.ts'
import type { AccessCheck } from './access-check.ts'
import type { CallLedger, Course } from './call-ledger.ts'
import { type AttemptEnd, type AttemptError, UpstreamAttempt } from './call-upstream.ts'
import type { Deadlines, Watched } from './deadlines.ts'
import type { Exchange } from './exchange.ts'
import type { OutputAllowance } from './output-allowance.ts'
import type { Candidate } from './plan-call.ts'
import { byteSinkOf, StreamForwarder, startStream } from './stream-forwarder.ts'

type Deps = {
  readonly via: Outbound['via']
  readonly deadlines: Deadlines
  readonly counter: UserTokenCounter
  readonly pingIntervalMs: number | null
  readonly access: AccessCheck
  readonly screen: AnswerScreen | null
  readonly allowance: OutputAllowance
}

const ACCESS_CHECK_MS = 1_000
const PING = ': ping\n\n'

/** A call under way: its tries, its clock, and its caller, who may leave at any time. */
export class LiveCall implements Watched {
  readonly attempts: Attempt[] = []
  forwarder: StreamForwarder | null = null
  isCallerGone = false
  /** The provider's answer is read until then, though nobody takes it; 0: somebody does. */
  private readOnUntil = 0
  private isRaising = false
  private isSpent = false
  /** Why its caller may no longer call; null while it may. */
  revokedBy: RelayErrorCode | null = null
  private accessCheckedAt = performance.now()
  /** What it turned out to have used, once that is known. */
  tokens = 0
  private readonly deps: Deps
  private readonly exchange: Exchange
  private readonly request: ChatRequest
  private readonly ledger: CallLedger
  private attempt: UpstreamAttempt | null = null
  private place: Place = { channelId: 0 }
  /** The channel that is being tried just now. */
  channelUnderWay: number | null = null
  private firstByteAt: number | null = null
  private renewedAt: number
  private progressBytes = 0
  private countedInput: Promise<CountAnswer> | null = null
  private quietSince: number
  private seenBytes = 0
  private onLate: (() => void) | null = null
  private lateAt = 0

  constructor(deps: Deps, exchange: Exchange, request: ChatRequest, ledger: CallLedger) {
    this.deps = deps
    this.exchange = exchange
    this.request = request
    this.ledger = ledger
    this.renewedAt = performance.now()
    this.quietSince = this.renewedAt
    const { response } = exchange
    response.on('drain', () => this.resume())
    response.on('close', () => {
      if (!response.writableFinished) this.callerGone()
    })
    // Between the admission and here the caller may have left already.
    if (response.destroyed) this.isCallerGone = true
  }

  /** One try; never throws. */
  async tryAt(candidate: Candidate, { target }: RelayKey): Promise<AttemptEnd> {
    const { deadlines, via } = this.deps
    const place = placeOf(candidate.channel)
    const { channelId } = place
    const startedAt = performance.now()
    const { isStream, wantsUsage, model } = this.request
    const shownModel = candidate.upstreamModel === null ? null : model
    this.place = place
    this.forwarder = isStream ? this.newForwarder(wantsUsage, shownModel) : null
    this.attempt = new UpstreamAttempt(this.forwarder, deadlines)
    const path = chatPathOf(target, candidate.upstreamModel ?? model)
    const headers = [...target.headers, 'x-request-id', this.exchange.call]
    const request = { path, headers, body: candidate.body }
    this.channelUnderWay = channelId
    const end = await this.attempt.start(via(target.proxy).poolFor(target.origin), request)
    this.channelUnderWay = null
    this.attempts.push({
      channelId,
      status: end.status,
      error: end.kind === 'plain' ? null : end.error,
      latencyMs: Math.round(performance.now() - startedAt),
    })
    return end
  }

  /** The try that just ended counts towards turning its channel off. */
  blameAccount(): void {
    const last = this.attempts.pop()
    if (last !== undefined) this.attempts.push({ ...last, isAccounts: true })
  }

  noteFirstByte(): void {
    this.firstByteAt ??= performance.now()
  }

  course(): Course {
    const { firstByteAt, attempts, exchange } = this
    const firstByteMs = firstByteAt === null ? null : Math.round(firstByteAt - exchange.arrivedAt)
    return { attempts, firstByteMs }
  }

  /** What the caller left behind is billed as such, however its rest comes to an end. */
  abort(error: AttemptError): void {
    this.attempt?.abort(this.isCallerGone ? 'caller-gone' : error)
  }

  watch(now: number): boolean {
    if (this.lateAt > 0 && now > this.lateAt) this.onLate?.()
    this.attempt?.watch(now)
    if (this.ledger.hasEnded) return !this.isOver()
    if (this.isOutOfTime(now)) this.abort('timeout')
    if (this.readOnUntil > 0 && now > this.readOnUntil) this.abort('caller-gone')
    this.checkAccess(now)
    this.ping(now)
    this.renew(now)
    return true
  }

  private checkAccess(now: number): void {
    if (now - this.accessCheckedAt < ACCESS_CHECK_MS) return
    this.accessCheckedAt = now
    this.revokedBy = this.deps.access()
    if (this.revokedBy !== null) this.abort('revoked')
  }

  isOutOfTime(now: number): boolean {
    return now - this.exchange.arrivedAt > this.deps.deadlines.totalMs
  }

  /** Resolves with the ledger' answer; rejects when they are not closed in time. */
  inTime(closing: Promise<void>): Promise<void> {
    this.lateAt = performance.now() + this.deps.deadlines.settleMs
    return new Promise((resolve, reject) => {
      this.onLate = () => reject(new Error('the ledger could not be closed in time'))
      closing.then(resolve, reject)
    })
  }

  /** The ledger are closed, the answer is out, and the provider's connection needs no watching. */
  isOver(): boolean {
    const { response } = this.exchange
    const isAnswered = this.ledger.hasEnded && (response.writableEnded || response.destroyed)
    return isAnswered && (this.attempt === null || this.attempt.isClosed)
  }

  /** Of the caller's texts. */
  get counter(): UserTokenCounter {
    return this.deps.counter
  }

  /**
   * The answer was made for the caller, who stays or leaves: a plain one, and a stream that has
   * only its usage left, is read to its end, so that leaving early does not make it free.
   */
  private callerGone(): void {
    this.isCallerGone = true
    const { forwarder } = this
    const { readOnPlainMs, readOnStreamMs } = this.deps.deadlines
    if (forwarder === null) this.readOnUntil = performance.now() + readOnPlainMs
    else if (forwarder.isFinished()) {
      this.readOnUntil = performance.now() + readOnStreamMs
      forwarder.readOn()
      this.attempt?.resume()
    } else this.abort('caller-gone')
  }

  /** Looks whether the hold still covers what the stream delivers. */
  private checkAllowance(): void {
    const { forwarder } = this
    if (forwarder === null) return
    const verdict = this.deps.allowance.look(forwarder.delivered)
    if (verdict === 'go-on') return
    if (verdict === 'over-limit') return forwarder.endAt('over-limit')
    if (verdict === 'wait') {
      if (this.isSpent) return forwarder.endAt('balance-spent')
      forwarder.pause()
    }
    if (!this.isSpent) void this.raiseHold()
  }

  /** Goes on with the provider's answer once the hold covers more and the caller takes more. */
  private resume(): void {
    if (!this.isRaising && !this.exchange.response.writableNeedDrain) this.attempt?.resume()
  }

  /** An account that can pay for no more ends the stream once its hold is used up. */
  private async raiseHold(): Promise<void> {
    if (this.isRaising) return
    this.isRaising = true
    const { allowance } = this.deps
    const { hold, least } = allowance.nextHold()
    const before = this.ledger.hold
    const held = await this.ledger.raiseHold(hold, least).catch(() => null)
    this.isRaising = false
    if (held === null || held <= before) this.isSpent = true
    else allowance.noteHold(held)
    this.checkAllowance()
    if (this.forwarder?.verdict === 'balance-spent') this.abort('balance-spent')
    else this.resume()
  }

  private newForwarder(wantsUsage: boolean, shownModel: string | null): StreamForwarder {
    const onFirstByte = () => this.noteFirstByte()
    const { screen } = this.deps
    const outlet = byteSinkOf(this.exchange)
    const onDelivered = () => this.checkAllowance()
    return new StreamForwarder(outlet, wantsUsage, shownModel, onFirstByte, screen, onDelivered)
  }

  /** A comment between two events, so that nobody in between takes a quiet stream for dead. */
  private ping(now: number): void {
    const { pingIntervalMs } = this.deps
    const { forwarder } = this
    const { response } = this.exchange
    if (pingIntervalMs === null || forwarder === null) return
    if (forwarder.delivered.bytes !== this.seenBytes) {
      this.seenBytes = forwarder.delivered.bytes
      this.quietSince = now
    }
    const isBlocked = response.destroyed || response.writableNeedDrain
    if (isBlocked || forwarder.verdict !== 'open' || now - this.quietSince < pingIntervalMs) return
    this.quietSince = now
    if (!response.headersSent) startStream(this.exchange)
    response.write(PING)
  }

  private renew(now: number): void {
    const { renewMs, progressMs, progressBytes } = this.deps.deadlines
    const bytes = this.forwarder?.delivered.bytes ?? 0
    const fresh = bytes - this.progressBytes
    const sinceMs = now - this.renewedAt
    const isProgress = fresh >= progressBytes || (fresh > 0 && sinceMs >= progressMs)
    if (!isProgress && sinceMs < renewMs) return
    this.renewedAt = now
    this.progressBytes = bytes
    // A lost renewal is made up for by the next; the call itself goes on.
    this.tell().catch(() => {})
  }

  private async tell(): Promise<void> {
    const { place } = this
    const usage = await this.soFar()
    const mayGoOn = await this.ledger.progress(place, usage, this.deps.deadlines.leaseMs)
    if (!mayGoOn) this.abort('balance-spent')
  }

  /** What the call is charged should this process die: its input as when it is cut short. */
  private async soFar(): Promise<Usage> {
    if (this.forwarder === null || !this.forwarder.hasDelivered) return NO_USAGE
    const { outputTokens } = this.deps.allowance.limits()
    const output = Math.min(this.forwarder.delivered.roughTokens(), outputTokens)
    this.countedInput ??= this.counter.count({ requestBody: this.request.body, text: '' })
    const { input: inputUncached } = await this.countedInput
    return { ...NO_USAGE, inputUncached, output }
  }
}
