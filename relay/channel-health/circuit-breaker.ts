import { randomUUID } from 'node:crypto'
import {
  type ChannelHealthCommand,
  channelHealthDecider,
  scopeKey,
} from '#domain/channel-health/decide.ts'
import { type CircuitScope, channelHealthStream } from '#domain/channel-health/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { type AttemptFailure, type AttemptOutcome, outcomeOf } from './attempt-outcome.ts'
import { type BreakerRule, FailureCounts } from './failure-counts.ts'
import type { OpenCircuit, OpenCircuitView } from './open-circuit-view.ts'

/**
 * The pauses of channels and keys after a provider's `Retry-After`. Each pause is stored as the
 * time at which it ends, on the clock of `performance.now()`. Pauses are short, so other processes
 * are not told about them.
 */
class Pauses {
  private readonly untils = new Map<number | string, number>()

  put(who: number | string, until: number, now: number): void {
    for (const [name, over] of this.untils) if (over <= now) this.untils.delete(name)
    this.untils.set(who, until)
  }

  /** Ends a pause early. Called when an admin has closed the circuit. */
  end(who: number | string): void {
    this.untils.delete(who)
  }

  get isEmpty(): boolean {
    return this.untils.size === 0
  }

  /** Returns the time at which the current pause ends, or 0 if the channel or key is not paused. */
  pauseEndOf(who: number | string, now: number): number {
    if (this.untils.size === 0) return 0
    const until = this.untils.get(who)
    if (until === undefined) return 0
    if (until > now) return until
    this.untils.delete(who)
    return 0
  }
}

/** The rules for opening circuits, and the pauses of open circuits. */
export type BreakerOptions = BreakerRule & {
  readonly cooldownMs: number
  readonly cooldownMsMax: number
}

type Deps = Pick<Core, 'actors' | 'log' | 'now'> & {
  readonly circuits: OpenCircuitView
  readonly options: () => BreakerOptions
}

/** One attempt at one channel, as reported to the circuit breaker. */
type ReportedAttempt = {
  readonly channel: RelayChannel
  readonly keyRef: string
  /** The model's name as the caller sent it. */
  readonly model: string
  /** The open circuits that this attempt probes. */
  readonly probes: readonly CircuitScope[]
  readonly call: string
}

/**
 * The health of a key. All calls may use a `free` key. A `due` key has an open circuit whose pause
 * is over, so one call may probe it. An `out` key is used only if the channel has no other key.
 */
export type KeyHealth = 'free' | 'due' | 'out'

type Opening = {
  readonly scope: CircuitScope
  readonly failure: AttemptFailure
  readonly failures: number
  readonly retryAfterMs: number
}

/** The longest pause of a channel or key that a provider can request by `Retry-After`. */
const RETRY_AFTER_MS_MAX = 30_000

/**
 * The maximum time for a probing call to report its result. After this time, another call may probe
 * the circuit.
 */
const PROBE_LEASE_MS = 90_000
/** The time after which a circuit may be probed again if a probing call was not sent. */
const RELEASED_PROBE_MS = 1_000

/**
 * Opens a circuit when calls fail too often. After a pause, a single call probes the circuit, and a
 * success closes it. Each process counts failures separately, but all processes share the state of
 * circuits through events.
 */
export class CircuitBreaker {
  private readonly deps: Deps
  private readonly tallies = new FailureCounts()
  private readonly pauses = new Pauses()
  private readonly asking = new Set<string>()
  private readonly prober = randomUUID()

  constructor(deps: Deps) {
    this.deps = deps
    deps.circuits.onClosedByAdmin((scope) => this.forget(scope))
  }

  /** Reports whether calls must avoid the channel, because of an open circuit or `Retry-After`. */
  isAvoided(channelId: number, model: string, now: number): boolean {
    if (this.pauses.pauseEndOf(channelId, performance.now()) > 0) return true
    const { circuits } = this.deps
    if (circuits.areAllClosed) return false
    return (
      this.isOpen(circuits.find(channelId, null, null), now) ||
      this.isOpen(circuits.find(channelId, model, null), now)
    )
  }

  /** Reports whether calls may use the channel without a probe of a circuit. */
  isHealthy(channelId: number, model: string, now: number): boolean {
    if (this.isAvoided(channelId, model, now)) return false
    const { circuits } = this.deps
    if (circuits.areAllClosed) return true
    const open = circuits.find(channelId, null, null) ?? circuits.find(channelId, model, null)
    return open === undefined
  }

  /**
   * Asks whether a call may use the channel. Returns null if it may, because no circuit of the
   * channel or the model is open. Otherwise, the promise resolves to the circuits that the call
   * must probe, or to `false` if the call must use another channel. The caller of this method must
   * report the attempt with `note`, or give the probes back with `release`.
   */
  enter(channelId: number, model: string): null | Promise<readonly CircuitScope[] | false> {
    const { circuits } = this.deps
    if (circuits.areAllClosed) return null
    const ofChannel = circuits.find(channelId, null, null)
    const ofModel = circuits.find(channelId, model, null)
    if (ofChannel === undefined && ofModel === undefined) return null
    return this.askAll([ofChannel, ofModel].filter((circuit) => circuit !== undefined))
  }

  /** True if every key of every channel may be used, which is the usual case. */
  get areAllKeysFree(): boolean {
    return this.deps.circuits.areAllClosed && this.pauses.isEmpty
  }

  keyHealthOf(channelId: number, keyRef: string): KeyHealth {
    if (this.pauses.pauseEndOf(keyRef, performance.now()) > 0) return 'out'
    const circuit = this.deps.circuits.find(channelId, null, keyRef)
    if (circuit === undefined) return 'free'
    return this.isOpen(circuit, this.deps.now()) ? 'out' : 'due'
  }

  /**
   * Asks to probe the circuit of a key whose pause is over. Resolves to true if this call may do
   * so. As with `enter`, the caller of this method must then report the attempt or give the probe
   * back.
   */
  enterKey(scope: CircuitScope): Promise<boolean> {
    return this.askToProbe(scope)
  }

  /**
   * Gives back probes whose attempt was not made, so that another call need not wait until
   * `PROBE_LEASE_MS` is over.
   */
  release(probes: readonly CircuitScope[]): void {
    const { prober } = this
    for (const scope of probes) {
      const at = this.deps.now()
      const pauseMs = RELEASED_PROBE_MS
      const command = { type: 'ReleaseProbe', scope, prober, pauseMs, at } as const
      this.execute(scope.channelId, command, null).catch(this.failed)
    }
  }

  /**
   * Records the result of an attempt. If nothing has failed recently, recording a success takes
   * only one look-up.
   */
  note(one: ReportedAttempt, end: AttemptEnd): void {
    const { channel, model, keyRef, probes, call } = one
    const { channelId } = channel
    const outcome = outcomeOf(end)
    const requestedMs = end.kind === 'failed' ? end.retryAfterMs : 0
    const retryAfterMs = Math.min(requestedMs, RETRY_AFTER_MS_MAX)
    if (retryAfterMs > 0) this.pause(one, outcome, retryAfterMs)
    if (outcome === 'nothing') return this.release(probes)
    if (outcome !== 'well') return this.fail(one, outcome, retryAfterMs)
    this.tallies.succeed({ channelId, model, keyRef }, performance.now(), this.deps.options())
    for (const scope of probes) this.close(scope, 'probe', call)
  }

  /** Closes the circuits of a channel, model and key after a successful test with that key. */
  noteTest(
    { channelId, model, keyRef }: { channelId: number; model: string; keyRef: string | null },
    cause: string | null,
  ): void {
    const { circuits } = this.deps
    const tested = [
      circuits.find(channelId, null, null),
      circuits.find(channelId, model, null),
      keyRef === null ? undefined : circuits.find(channelId, null, keyRef),
    ]
    for (const circuit of tested)
      if (circuit !== undefined) this.close(circuit.scope, 'test', cause)
  }

  /**
   * Records a failed attempt. If the key caused the failure and the channel has another usable key,
   * the failure counts against the key. Otherwise, the failure counts against the channel or the
   * model. The probed circuits open again, except that a failure of the key closes those of the
   * channel and the model. A failure that opens a probed circuit again is not counted.
   */
  private fail(one: ReportedAttempt, failure: AttemptFailure, retryAfterMs: number): void {
    const { probes, call } = one
    const isKeyFault = this.isKeyFault(one, failure)
    for (const scope of probes) {
      if (isKeyFault && scope.keyRef === null) this.close(scope, 'probe', call)
      else this.open({ scope, failure, failures: 1, retryAfterMs }, call, this.prober)
    }
    const isReported = probes.some(({ keyRef }) => (keyRef !== null) === isKeyFault)
    if (isReported || !this.deps.options().isEnabled) return
    if (isKeyFault) this.countKey(one, failure, retryAfterMs)
    else this.count(one, failure, retryAfterMs)
  }

  private isKeyFault({ channel, keyRef }: ReportedAttempt, outcome: AttemptOutcome): boolean {
    if (typeof outcome === 'string' || outcome.blame !== 'key') return false
    const { channelId, keys } = channel
    return keys.some(
      (other) =>
        other.keyRef !== keyRef &&
        this.deps.circuits.find(channelId, null, other.keyRef) === undefined,
    )
  }

  /**
   * Starts the pause that the provider's `Retry-After` header requests. If the key caused the
   * failure and another usable key is left, only the key is paused. Otherwise, the channel is
   * paused. The channel is also paused once all its usable keys are paused.
   */
  private pause(one: ReportedAttempt, outcome: AttemptOutcome, retryAfterMs: number): void {
    const { channelId, keys } = one.channel
    const now = performance.now()
    const until = now + retryAfterMs
    if (!this.isKeyFault(one, outcome)) return this.pauses.put(channelId, until, now)
    this.pauses.put(one.keyRef, until, now)
    const inUse = keys.filter(
      ({ keyRef }) => this.deps.circuits.find(channelId, null, keyRef) === undefined,
    )
    const untils = inUse.map(({ keyRef }) => this.pauses.pauseEndOf(keyRef, now))
    if (!untils.includes(0)) this.pauses.put(channelId, Math.min(...untils), now)
  }

  private countKey(
    { channel, keyRef, call }: ReportedAttempt,
    failure: AttemptFailure,
    retryAfterMs: number,
  ): void {
    const { channelId } = channel
    const failures = this.tallies.failKey(keyRef, performance.now(), this.deps.options())
    if (failures === null) return
    this.tallies.forgetKey(keyRef)
    if (this.deps.circuits.find(channelId, null, keyRef) !== undefined) return
    const scope = { channelId, model: null, keyRef }
    this.open({ scope, failure, failures, retryAfterMs }, call, null)
  }

  private count(
    { channel, model, call }: ReportedAttempt,
    failure: AttemptFailure,
    retryAfterMs: number,
  ): void {
    const { channelId, terms } = channel
    const what = { model, offersMore: terms.models.length > 1, blame: failure.blame }
    const trip = this.tallies.fail(channelId, what, performance.now(), this.deps.options())
    if (trip === null) return
    if (trip.model === null) this.tallies.forget(channelId, null)
    const { circuits } = this.deps
    if (circuits.find(channelId, null, null) !== undefined) return
    if (circuits.find(channelId, trip.model, null) !== undefined) return
    const scope = { channelId, model: trip.model, keyRef: null }
    this.open({ scope, failure, failures: trip.failures, retryAfterMs }, call, null)
  }

  private open(
    { scope, failure, failures, retryAfterMs }: Opening,
    cause: string,
    prober: string | null,
  ): void {
    const { cooldownMs: baseMs, cooldownMsMax: maxMs } = this.deps.options()
    const cooldown = { baseMs, maxMs, jitter: Math.random(), retryAfterMs }
    const { reason } = failure
    const at = this.deps.now()
    const command = { type: 'OpenCircuit', scope, reason, failures, cooldown, prober, at } as const
    this.execute(scope.channelId, command, cause).catch(this.failed)
  }

  private close(scope: CircuitScope, reason: 'probe' | 'test', cause: string | null): void {
    const { channelId, model, keyRef } = scope
    if (keyRef === null) this.tallies.forget(channelId, model)
    else this.tallies.forgetKey(keyRef)
    const command = { type: 'CloseCircuit', scope, reason, prober: this.prober } as const
    this.execute(scope.channelId, command, cause).catch(this.failed)
  }

  /** Deletes the failure counts and the pause. Called when an admin has closed the circuit. */
  private forget({ channelId, model, keyRef }: CircuitScope): void {
    this.pauses.end(keyRef ?? channelId)
    if (keyRef === null) this.tallies.forget(channelId, model)
    else this.tallies.forgetKey(keyRef)
  }

  private async askAll(open: readonly OpenCircuit[]): Promise<readonly CircuitScope[] | false> {
    const now = this.deps.now()
    if (open.some(({ until }) => now < until)) return false
    const granted: CircuitScope[] = []
    for (const { scope } of open) {
      if (!(await this.askToProbe(scope))) {
        this.release(granted)
        return false
      }
      granted.push(scope)
    }
    return granted
  }

  /**
   * Asks for permission to probe a circuit. Only one call among those of all processes gets the
   * permission.
   */
  private async askToProbe(scope: CircuitScope): Promise<boolean> {
    const key = `${scope.channelId}|${scopeKey(scope)}`
    if (this.asking.has(key)) return false
    this.asking.add(key)
    const { prober } = this
    const at = this.deps.now()
    const command = { type: 'ProbeCircuit', scope, prober, leaseMs: PROBE_LEASE_MS, at } as const
    try {
      return await this.execute(scope.channelId, command, null)
    } catch (err) {
      this.failed(err)
      return false
    } finally {
      this.asking.delete(key)
    }
  }

  /**
   * Executes a command and immediately applies its events in this process. Returns true if the
   * state changed.
   */
  private async execute(
    channelId: number,
    command: ChannelHealthCommand,
    cause: string | null,
  ): Promise<boolean> {
    const { actors, now, circuits } = this.deps
    const context = { actor: 'system:relay', cause, at: now() }
    const stream = channelHealthStream(channelId)
    const outcome = await actors.handle(channelHealthDecider, stream, command, context)
    if (!outcome.isDone) return false
    for (const event of outcome.events) circuits.apply(event)
    return outcome.events.length > 0
  }

  private isOpen(circuit: OpenCircuit | undefined, now: number): boolean {
    return circuit !== undefined && now < circuit.until
  }

  private readonly failed = (err: unknown): void =>
    this.deps.log.warn({ err }, 'a circuit could not be changed')
}
