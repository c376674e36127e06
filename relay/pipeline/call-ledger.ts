import { type HoldTerms, indexOfAdmittedTerms } from '#domain/accounts/affordable-terms.ts'
import type { SentRequest } from '#domain/accounts/call-event-members.ts'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import {
  type AccountEvent,
  type Attempt,
  accountStream,
  type CallEnd,
  type RequestChanges,
  type Served,
} from '#domain/accounts/events.ts'
import type { Usage, UsageLimits, UsageSource } from '#domain/pricing/usage.ts'
import { assert } from '#domain/shared/assert.ts'
import type { CodedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { isPlayground } from '#domain/shared/playground-token-id.ts'
import { fromWire, type Quota } from '#domain/shared/quota.ts'
import type { StreamActors } from '#infra/event-store/stream-actors-port.ts'
import { type RelayError, type RelayErrorCode, relayError } from '../canonical/relay-error.ts'
import type { BilledChannel } from '../views/channel-view.ts'
import type { Caller } from './authenticate.ts'
import { exhaustionCodeOf } from './balance-check-of-running-calls.ts'
import type { KeyedCall } from './claim-idempotency-key.ts'
import type { Exchange } from './http-exchange.ts'

type Admission = HoldTerms & {
  readonly model: string
  readonly isStream: boolean
  /** The terms to try if the account can't pay the hold, in descending order of their holds. */
  readonly cheaper: readonly HoldTerms[]
  /** The number of requested choices. With a price per call, each choice is charged. */
  readonly calls: number
  readonly reasoningEffort: string | null
  readonly leaseMs: number
  readonly clientIp: Sealed | null
  /** True for work that the provider has already done (see `AdmitCall`). */
  readonly isOwed: boolean
}

const NOTHING = Object.freeze({})

/** Returns the error for the API caller if the account does not admit a call. */
export function admissionError(error: CodedError, call: string, isKeyed: boolean): RelayError {
  switch (error.code) {
    case 'CallKnown':
    case 'CallEnded':
      return isKeyed
        ? relayError('idempotency_replayed', { subject: call })
        : relayError('overloaded', { retryAfter: 1 })
    case 'TooManyTasks': {
      const subject = `${error.params.max} tasks (this user)`
      return relayError('too_many_concurrent', { subject, retryAfter: 10 })
    }
    case 'TooManyBatches': {
      const subject = `${error.params.max} batches (this user)`
      return relayError('too_many_concurrent', { subject, retryAfter: 60 })
    }
    case 'TokenBudgetExhausted':
      return relayError('token_exhausted')
    case 'TokenBudgetUnknown':
      return relayError('invalid_key')
    default:
      return relayError('insufficient_quota')
  }
}

/** The usage of a call, and how the call ended. */
export type Bill = BilledChannel &
  SentRequest & {
    readonly upstreamModel: string | null
    readonly served?: Served
    readonly usage: Usage
    /** Usage up to these limits is charged even if the account can't pay for it. */
    readonly limits: UsageLimits
    readonly usageSource: UsageSource
    readonly anomaly: string | null
    readonly end: CallEnd
    /** The error code for a caller who lost access during the call. */
    readonly endReason?: string
  }

type CallRelease = RequestChanges & {
  readonly channelId: number | null
  readonly reason: CallEnd | 'no-channel' | 'not-sent' | 'refused'
  readonly errorCode: string
  readonly statusCode: number
}

/**
 * The attempts of a call and the time until the first byte of its answer, for the event that ends
 * the call.
 */
export type AttemptHistory = {
  readonly attempts: readonly Attempt[]
  readonly firstByteMs: number | null
}

/**
 * Writes the account events of one call. The pipeline writes these events only with this class,
 * which does not let a call end twice.
 */
export class CallLedger {
  hasEnded = false
  /** The quota that is held (reserved) for the call. */
  hold: Quota = 0n
  /** The reduced output limit in tokens per choice; null if the limit was not reduced. */
  outputLimit: number | null = null
  /** 0 for the terms of the admission, or n for the n-th of its cheaper terms. */
  admittedTerms = 0
  private readonly actors: StreamActors
  private readonly caller: Caller
  private readonly exchange: Exchange
  private readonly now: () => number
  private readonly keyed: KeyedCall | null
  private readonly stream: string
  private readonly actor: string

  /** `keyed` is set for a request with an `Idempotency-Key`, which may repeat an earlier call. */
  constructor(
    actors: StreamActors,
    caller: Caller,
    exchange: Exchange,
    now: () => number,
    keyed: KeyedCall | null = null,
  ) {
    this.actors = actors
    this.caller = caller
    this.exchange = exchange
    this.now = now
    this.keyed = keyed
    const { token, user } = caller
    this.stream = accountStream(user.userId)
    this.actor = isPlayground(token.tokenId) ? `user:${user.userId}` : `token:${token.tokenId}`
  }

  /**
   * Admits the call. Resolves with null when the hold is durable. Resolves with the error for the
   * API caller if the account refuses the call, or if the request repeats a call that was admitted
   * before.
   */
  async admit(admission: Admission): Promise<RelayError | null> {
    const { token, user, group } = this.caller
    const { reasoningEffort } = admission
    const outcome = await this.handle({
      type: 'AdmitCall',
      userId: user.userId,
      tokenId: token.tokenId,
      call: this.exchange.call,
      group,
      leaseUntil: this.now() + admission.leaseMs,
      startedAt: this.exchange.startedAt,
      model: admission.model,
      isStream: admission.isStream,
      hold: admission.hold,
      reduction: admission.reduction,
      cheaper: admission.cheaper.length === 0 ? undefined : admission.cheaper,
      price: admission.price,
      calls: admission.calls,
      ...(reasoningEffort === null ? NOTHING : { reasoningEffort }),
      clientIp: admission.clientIp,
      isOwed: admission.isOwed,
    })
    if (outcome.isDone) {
      const isRepeat = this.keyed !== null && outcome.events.length === 0
      this.storeGrant(outcome.events, admission)
      return isRepeat ? this.repeatError() : null
    }
    return admissionError(outcome.error, this.exchange.call, this.keyed !== null)
  }

  /**
   * Stores the terms, the output limit and the hold that the event of the admission grants. This
   * hold may be smaller than the requested one. If the call was admitted before, there is no event,
   * and the requested hold is stored.
   */
  private storeGrant([event]: readonly AccountEvent[], admission: Admission): void {
    const isAdmitted = event?.type === 'CallAdmitted'
    this.hold = isAdmitted ? fromWire(event.data.hold) : admission.hold
    this.outputLimit = (isAdmitted ? event.data.outputLimit : undefined) ?? null
    const { cheaper } = admission
    if (!isAdmitted || cheaper.length === 0) return
    this.admittedTerms = indexOfAdmittedTerms(event.data, [admission, ...cheaper])
    assert(this.admittedTerms >= 0, 'an admission has one of its terms')
  }

  /** Returns the error for a repeated request whose call the account has already admitted. */
  private async repeatError(): Promise<RelayError> {
    const { call } = this.exchange
    const { open } = await this.actors.stateOf(accountDecider, this.stream)
    if (!open.has(call)) return relayError('idempotency_replayed', { subject: call })
    return relayError('idempotency_in_progress', { subject: call, retryAfter: 2 })
  }

  /**
   * Records the usage so far and renews the lease. Returns an error code if the call must end
   * because its account or its token's budget is empty; otherwise null.
   */
  async progress(
    attempt: BilledChannel & Pick<SentRequest, 'formats' | 'calls'> & { readonly served?: Served },
    usage: Usage,
    leaseMs: number,
  ): Promise<RelayErrorCode | null> {
    if (this.hasEnded) return null
    const leaseUntil = this.now() + leaseMs
    const { call } = this.exchange
    const progress = { type: 'RecordProgress', call, ...attempt, usage, leaseUntil } as const
    const outcome = await this.handle(progress)
    return outcome.isDone ? null : exhaustionCodeOf(outcome.error)
  }

  /**
   * Raises the hold to `hold`, or to a lower amount of at least `least`. Returns the new amount, or
   * null if the call has ended or `least` can't be paid. Throws if the event store can't be reached
   * in time.
   */
  async raiseHold(hold: Quota, least: Quota): Promise<Quota | null> {
    if (this.hasEnded) return null
    const { call } = this.exchange
    const outcome = await this.handle({ type: 'RaiseHold', call, hold, least })
    const [event] = outcome.isDone ? outcome.events : []
    if (event?.type === 'HoldRaised') this.hold = fromWire(event.data.hold)
    return outcome.isDone ? this.hold : null
  }

  /**
   * Charges the call, unless it has ended already. The charge is durable when the promise resolves.
   * Throws if the event store can't be reached in time or the sweeper of expired calls has already
   * ended the call. After such an error, the caller must not receive a complete answer.
   */
  async settle(bill: Bill, history: AttemptHistory): Promise<void> {
    if (this.hasEnded) return
    this.hasEnded = true
    const { attempts } = history
    const timings = this.timings(history)
    const { call } = this.exchange
    const outcome = await this.handle({ ...bill, type: 'SettleCall', call, attempts, timings })
    if (!outcome.isDone || outcome.events.length === 0)
      throw new Error('the sweeper has already ended the call')
  }

  async release(end: CallRelease, history: AttemptHistory): Promise<void> {
    if (this.hasEnded) return
    this.hasEnded = true
    const { attempts } = history
    const timings = this.timings(history)
    const { call } = this.exchange
    await this.handle({ type: 'ReleaseCall', call, ...end, attempts, timings })
    await this.keyed?.free()
  }

  private timings({ firstByteMs }: AttemptHistory) {
    const { startedAt, arrivedAt } = this.exchange
    return { startedAt, firstByteMs, durationMs: Math.round(performance.now() - arrivedAt) }
  }

  private handle(command: AccountCommand) {
    const context = { actor: this.actor, cause: this.exchange.call, at: this.now() }
    return this.actors.handle(accountDecider, this.stream, command, context)
  }
}
