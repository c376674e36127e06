import type { CallEnd } from '#domain/accounts/events.ts'
import { holdFor, outputTokensWithin } from '#domain/pricing/hold-amount.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { type Usage, usageWithin } from '#domain/pricing/usage.ts'
import type { Quota } from '#domain/shared/quota.ts'
import {
  isRelayError,
  type RelayError,
  type RelayErrorCode,
  relayError,
} from '../canonical/relay-error.ts'
import { type AccessCheck, accessCheck } from '../pipeline/access-check-of-running-calls.ts'
import { type CallPermit, permitWithoutLimits } from '../pipeline/acquire-call-permit.ts'
import {
  acquireRealtimeCallPermit,
  RealtimeCallPermit,
} from '../pipeline/acquire-realtime-call-permit.ts'
import type { Caller } from '../pipeline/authenticate.ts'
import { tokensOf } from '../pipeline/billed-usage.ts'
import type { AttemptHistory, CallLedger } from '../pipeline/call-ledger.ts'
import { admitWithHold } from '../pipeline/hold-quota-and-admit-call.ts'
import type { Exchange } from '../pipeline/http-exchange.ts'
import { logUnreadableAnswer } from '../pipeline/log-unreadable-answer.ts'
import { roughOutputMax } from '../pipeline/output-hold-tracker.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { billedChannelOf, type RelayChannel } from '../views/channel-view.ts'
import { errorOfCutCall, releaseOfCutCall } from './errors-of-session.ts'
import type { EndOfResponse, SessionEvidence } from './provider-evidence-of-session.ts'
import type { RealtimeBill } from './realtime-usage.ts'

/** The formats that are recorded with each call. A session's events are never converted. */
const RECORDED_FORMATS = { formats: ['realtime'] } as const

/** The values that all calls of a session share. */
export type CallContext = {
  readonly deps: RelayDeps
  /** The caller with its current token, user and group, which may change during the session. */
  readonly caller: Caller
  readonly channel: RelayChannel
  /** The reference of the key with which the session was opened. */
  readonly keyRef: string
  readonly evidence: SessionEvidence
  /** Returns a new exchange (a request and its response) with a new call id. */
  readonly openExchange: () => Exchange
}

export type CallTerms = {
  readonly model: string
  /** The provider's name for the model; null if it is the same as the caller's name. */
  readonly upstreamModel: string | null
  readonly price: PriceSnapshot
  /**
   * The maximum number of input tokens. If `isReducible` is true, quota for `AHEAD_TOKENS` more
   * tokens is reserved as well.
   */
  readonly inputTokens: number
  readonly outputTokens: number
  /**
   * True if the call may be admitted with a lower output limit when the account can't pay for the
   * requested one.
   */
  readonly isReducible: boolean
  /**
   * False if limits of calls do not apply to the call, because the provider has already begun the
   * work, which must be charged in any case.
   */
  readonly isLimited: boolean
  /**
   * True for a call that was admitted while another call of the session is running, in case speech
   * begins another response. Limits of concurrent calls do not count the call before its response
   * begins.
   */
  readonly isListening?: boolean
  /**
   * True for work that the provider has already done for a caller who has lost access or can't pay.
   * The call is admitted with a hold of 0 and is charged in any case.
   */
  readonly isOwed?: boolean
}

type CourseOfCall = {
  /** The code of the error with which the session ended. */
  readonly endReason?: RelayErrorCode | undefined
  /** The event with which the provider ended the response; null if the provider sent none. */
  readonly response?: EndOfResponse | null
}

/**
 * The number of additional input tokens for which quota is reserved in advance, so that not every
 * event has to raise the hold.
 */
const AHEAD_TOKENS = 1_024
const LEAST_OUTPUT_TOKENS = 256
/** The HTTP status that is recorded for a call that was never used. The status is never sent. */
const UNUSED_STATUS = 499
const BYTES_PER_TOKEN = 4

/** The error of a change after the session has ended. No caller receives this error. */
export const SESSION_ENDED = relayError('upstream_incomplete')

/**
 * One call of a session: a response or a transcription. Its hold (the reserved quota) is durable
 * before anything is sent that may cost money. The call is ended exactly once.
 */
export class SessionCall {
  readonly model: string
  readonly price: PriceSnapshot
  readonly access: AccessCheck
  /** The number of output tokens that the hold covers. */
  outputTokens: number
  private inputTokens: number
  /** Logs the exception if the usage report of the call can't be read. */
  readonly onUnreadable = (err: unknown): void =>
    logUnreadableAnswer(this.exchange, this.context.channel.channelId, err)
  private readonly upstreamModel: string | null
  private readonly context: CallContext
  private readonly exchange: { -readonly [key in keyof Exchange]: Exchange[key] }
  private readonly ledger: CallLedger
  private readonly permit: CallPermit
  private renewedAt = performance.now()
  private recordedTokens = 0
  private firstByteAt: number | null = null
  private isEnded = false

  private constructor(
    context: CallContext,
    exchange: Exchange,
    { model, upstreamModel, price, inputTokens, outputTokens }: CallTerms,
    ledger: CallLedger,
    permit: CallPermit,
    access: AccessCheck,
  ) {
    this.context = context
    this.exchange = { ...exchange }
    this.model = model
    this.price = price
    this.upstreamModel = upstreamModel
    this.inputTokens = inputTokens
    this.outputTokens = ledger.outputLimit ?? outputTokens
    this.ledger = ledger
    this.permit = permit
    this.access = access
  }

  /**
   * Admits a call, or returns the error for the caller. The output limit of the call may be lower
   * than requested.
   */
  static async admit(context: CallContext, terms: CallTerms): Promise<SessionCall | RelayError> {
    const { deps, caller } = context
    const { model, price, inputTokens, outputTokens, isReducible, isLimited } = terms
    const { isListening = false, isOwed = false } = terms
    const body = { length: inputTokens * BYTES_PER_TOKEN }
    const sized = { body, outputTokensMax: outputTokens, choices: 1, model }
    const exchange = context.openExchange()
    const access = accessCheck(deps, caller, exchange)
    const denied = isOwed ? null : access()
    if (denied !== null) return denied
    const permit = isLimited
      ? await acquireRealtimeCallPermit(deps, caller, sized, isListening)
      : permitWithoutLimits(deps, caller, sized)
    if (isRelayError(permit)) return permit
    const ahead = isReducible ? AHEAD_TOKENS : 0
    const bounds = { inputTokens: inputTokens + ahead, outputTokens, choices: 1 }
    const hold = isOwed ? 0n : holdFor(price, bounds)
    const canReduce = isReducible && price.mode === 'tokens' && hold > 0n
    const leastOutputTokens = Math.min(LEAST_OUTPUT_TOKENS, outputTokens)
    const mostOutputTokens = outputTokens
    const reduction = canReduce ? { bounds, leastOutputTokens, mostOutputTokens } : null
    const request = { model, isStream: true, choices: 1, reasoningEffort: null }
    const plan = { price, terms: { hold, reduction }, isOwed }
    const admitting = admitWithHold(deps, exchange, caller, request, plan, null)
    const ledger = await admitting.catch((err: unknown) => {
      permit.release({ isSuccess: false, tokens: 0 })
      throw err
    })
    if (isRelayError(ledger)) {
      permit.release({ isSuccess: false, tokens: 0 })
      return ledger
    }
    return new SessionCall(context, exchange, terms, ledger, permit, access)
  }

  get id(): string {
    return this.exchange.call
  }

  /**
   * Counts the call towards the limits of concurrent calls, if it does not count yet (see
   * `RealtimeCallPermit`). Returns an error if a limit is reached. A call with `isLimited` false
   * never counts.
   */
  async claimConcurrency(): Promise<RelayError | null> {
    return this.permit instanceof RealtimeCallPermit ? this.permit.claimConcurrency() : null
  }

  /**
   * Takes over the place of another call of the session, which ends now, in the limits of
   * concurrent calls.
   */
  takeOver({ permit: other }: SessionCall): void {
    const { permit } = this
    if (permit instanceof RealtimeCallPermit && other instanceof RealtimeCallPermit)
      permit.takeOver(other)
  }

  /** Sets the start of the call to now, so that the recorded duration begins with the response. */
  begin(): void {
    this.exchange.startedAt = this.context.deps.now()
    this.exchange.arrivedAt = performance.now()
  }

  noteFirstByte(): void {
    this.firstByteAt ??= performance.now()
  }

  /**
   * Raises the hold so that it covers this number of input and output tokens. Returns an error if
   * the account can't pay for them or the hold can't be stored.
   */
  async cover(inputTokens: number, outputTokens = this.outputTokens): Promise<RelayError | null> {
    const most = Math.max(outputTokens, this.outputTokens)
    const input = Math.max(inputTokens, this.inputTokens)
    if (this.holdOf(input, most) <= this.ledger.hold) return this.note(input, most)
    const least = this.holdOf(input, most)
    const preferred = this.holdOf(input + AHEAD_TOKENS, most)
    try {
      const hold = await this.ledger.raiseHold(preferred, least)
      if (hold === null || hold < least) return relayError('insufficient_quota')
      return this.note(input, most)
    } catch {
      return relayError('store_unavailable', { retryAfter: 5 })
    }
  }

  /**
   * Lowers the output limit so that the same hold covers this number of input tokens. Returns the
   * new limit in tokens, or null if too little output would be left.
   */
  lowerOutput(inputTokens: number): number | null {
    const { price, outputTokens, ledger } = this
    for (const input of [inputTokens + AHEAD_TOKENS, inputTokens]) {
      const bounds = { inputTokens: input, outputTokens, choices: 1 }
      const most = outputTokensWithin(price, bounds, ledger.hold)
      if (most === null || most < LEAST_OUTPUT_TOKENS) continue
      this.note(inputTokens, most)
      return most
    }
    return null
  }

  private note(inputTokens: number, outputTokens: number): null {
    this.inputTokens = inputTokens
    this.outputTokens = outputTokens
    return null
  }

  private holdOf(inputTokens: number, outputTokens: number): Quota {
    return holdFor(this.price, { inputTokens, outputTokens, choices: 1 })
  }

  /**
   * Reports whether the provider ignores the output limit, by the gateway's estimate of the output.
   * A free call and one with a fixed price have no limit.
   */
  isOverLimit(estimatedOutput: number): boolean {
    if (estimatedOutput <= roughOutputMax(this.outputTokens)) return false
    return this.price.mode === 'tokens' && this.holdOf(this.inputTokens, this.outputTokens) > 0n
  }

  /** The highest number of input tokens that is accepted from a usage report of the provider. */
  get inputCeiling(): number {
    return this.inputTokens * 2 + 100_000
  }

  /**
   * Renews the lease when this is due. After the lease, other processes may end the call. Each
   * renewal also records the usage so far, which is charged if this process dies.
   */
  watch(now: number, soFar: () => Usage): void {
    if (this.isEnded) return
    const { renewMs, progressMs, leaseMs } = this.context.deps.deadlines
    const sinceMs = now - this.renewedAt
    if (sinceMs < Math.min(renewMs, progressMs)) return
    const { inputTokens, outputTokens } = this
    const usage = usageWithin(soFar(), { inputTokens, outputTokens })
    const hasNews = tokensOf(usage) !== this.recordedTokens
    if (sinceMs < (hasNews ? progressMs : renewMs)) return
    this.renewedAt = now
    this.recordedTokens = tokensOf(usage)
    // A failure is ignored, because the lease will be renewed again soon.
    const attempt = { ...billedChannelOf(this.context.channel), ...RECORDED_FORMATS }
    this.ledger.progress(attempt, usage, leaseMs).catch(() => {})
  }

  /**
   * Charges the call, unless the call has ended. Returns false if the charge could not be written.
   */
  async settle(bill: RealtimeBill, end: CallEnd, ending: CourseOfCall = {}): Promise<boolean> {
    const { endReason, response = null } = ending
    // A response that the caller has cancelled counts as a success if it is charged. Otherwise, a
    // caller could evade limits on successful calls by cancelling each response shortly before its
    // end.
    const tokens = tokensOf(bill.usage)
    const isCut = end === 'incomplete' && response === null
    if (!this.end(end === 'done' || (tokens > 0 && !isCut), tokens)) return true
    const { deps, channel, evidence } = this.context
    const { upstreamModel, inputTokens, outputTokens } = this
    const limits = { inputTokens, outputTokens }
    const reason = endReason === undefined ? {} : { endReason }
    const sent = { ...billedChannelOf(channel), upstreamModel, ...RECORDED_FORMATS }
    const course = { ...sent, limits, end, ...reason }
    try {
      const isOther = response !== null && evidence.isOtherModel(upstreamModel ?? this.model)
      const anomaly = bill.anomaly ?? (isOther ? 'other-model' : null)
      await this.ledger.settle({ ...course, ...bill, anomaly }, this.history(end, ending))
      return true
    } catch (err) {
      deps.log.error({ err, call: this.id }, 'a call of a realtime session could not be settled')
      return false
    }
  }

  /**
   * Ends the call with `charge`, which must settle or release it. If `charge` throws, the call is
   * released, because its permit would otherwise be held until the process ends.
   */
  async endAfter(charge: () => Promise<boolean>): Promise<boolean> {
    try {
      return await charge()
    } finally {
      await this.release('refused', 'internal_error')
    }
  }

  /** Ends the call without a charge. */
  async release(reason: CallEnd | 'refused', errorCode: string): Promise<void> {
    const history = reason === 'upstream-error' ? this.history(reason) : NO_HISTORY
    await this.endWithoutCharge(reason, errorCode, history)
  }

  /**
   * Ends a response that has no output, without a charge, because the provider or the gateway ended
   * the session. `endReason` is the code of the session's error.
   */
  async releaseCut(endReason?: RelayErrorCode): Promise<void> {
    const { reason, errorCode, error } = releaseOfCutCall(endReason)
    const history = error === null ? NO_HISTORY : this.history(reason, { endReason })
    await this.endWithoutCharge(reason, errorCode, history)
  }

  private async endWithoutCharge(
    reason: CallEnd | 'refused',
    errorCode: string,
    history: AttemptHistory,
  ): Promise<void> {
    if (!this.end(false, 0)) return
    const { deps, channel } = this.context
    const { channelId } = channel
    const statusCode = UNUSED_STATUS
    try {
      const end = { channelId, reason, errorCode, statusCode, ...RECORDED_FORMATS }
      await this.ledger.release(end, history)
    } catch (err) {
      deps.log.error({ err, call: this.id }, 'a call of a realtime session could not be released')
    }
  }

  private end(isSuccess: boolean, tokens: number): boolean {
    if (this.isEnded) return false
    this.isEnded = true
    this.permit.release({ isSuccess, tokens })
    return true
  }

  private history(end: CallEnd, { endReason, response = null }: CourseOfCall = {}) {
    const { channel, evidence: ofSession } = this.context
    const { channelId } = channel
    const { arrivedAt, startedAt } = this.exchange
    const firstByteMs =
      this.firstByteAt === null ? null : Math.max(0, Math.round(this.firstByteAt - arrivedAt))
    const error = errorOfCutCall(end, endReason)
    const latencyMs = Math.round(performance.now() - arrivedAt)
    const evidence = ofSession.report(startedAt, response)
    return { attempts: [{ channelId, status: 200, error, latencyMs, evidence }], firstByteMs }
  }
}

const NO_HISTORY = { attempts: [], firstByteMs: null } as const
