import type { CircuitScope } from '#domain/channel-health/events.ts'
import type { Offer } from '#domain/routing/channels-by-group-and-model.ts'
import { ChannelDraw } from '#domain/routing/weighted-channel-draw.ts'
import { type Claim, isFull, type Limits, type Permit } from '#infra/limits/port.ts'
import type { CircuitBreaker } from '../channel-health/circuit-breaker.ts'
import { isUnexpired } from '../views/channel-expiry.ts'
import type { RelayChannel } from '../views/channel-view.ts'

type Deps = {
  readonly breaker: CircuitBreaker
  readonly limits: Limits
  readonly now: () => number
}

const NO_PROBES: readonly CircuitScope[] = []

/**
 * Selects the channels to try for one call. The offer contains the channels for the call's model
 * and group. Each channel is selected at most once, unless `retryWithAnotherKey` asks for it again.
 * The preferred channel comes first if it is healthy. The other channels follow in the order of
 * their priorities. Channels of one priority are drawn at random by their weights. Expired channels
 * are never selected. Full channels (which have reached a limit) are skipped. Channels to avoid
 * (see `CircuitBreaker.isAvoided`) are selected only if the caller named the channel, or when no
 * other channel is left.
 */
export class ChannelSelector {
  private readonly deps: Deps
  private readonly offer: Offer<RelayChannel>
  private readonly model: string
  /** The channel of the call's session, which comes first if it is healthy. */
  private preferred: RelayChannel | null
  private draw: ChannelDraw<RelayChannel>
  private isLastResort: boolean
  /** The channels that are full or were already selected for this call. */
  private seen: Set<RelayChannel> | null = null
  private current: RelayChannel | null = null
  private permit: Permit | null = null
  private repeatsCurrent = false
  /** The open circuits that the attempt at the current channel probes. */
  probes = NO_PROBES
  /** The probes of the selected channel, which are given back if no attempt is made there. */
  private unusedProbes = NO_PROBES
  /**
   * The number of milliseconds until the first of the full channels may accept a call; 0 if no
   * channel was full.
   */
  retryAfterMs = 0

  /**
   * `isPinned` is true if the caller named the channel. In this case, open circuits are ignored.
   */
  constructor(
    deps: Deps,
    offer: Offer<RelayChannel>,
    model: string,
    isPinned: boolean,
    preferred: RelayChannel | null = null,
  ) {
    this.deps = deps
    this.offer = offer
    this.model = model
    this.preferred = preferred
    this.isLastResort = isPinned
    this.draw = new ChannelDraw(
      offer,
      isPinned ? (one) => this.isUnexpiredNow(one) : (one) => this.isAvailable(one),
      Math.random,
    )
  }

  /**
   * Returns the next channel to try, or null when no channel is left. Call `end` for the current
   * attempt before the next call of `next`.
   */
  next(): RelayChannel | null | Promise<RelayChannel | null> {
    // `seen` is filled only now, when a second channel is needed. Nearly every call needs only one
    // channel.
    if (this.current !== null) this.leaveOut(this.current)
    const channel = this.repeatsCurrent ? this.current : this.drawNext()
    this.repeatsCurrent = false
    if (channel === null) return null
    const { channelId, terms } = channel
    const claims = channelClaims(channelId, terms as ChannelLimits)
    this.probes = NO_PROBES
    this.unusedProbes = NO_PROBES
    if (claims !== null) return this.enter(channel, claims)
    const pendingProbes = this.probesAt(channelId)
    if (pendingProbes !== null) return this.probe(channel, pendingProbes)
    this.current = channel
    return channel
  }

  /** Makes `next` return the same channel again, for an attempt with another key. */
  retryWithAnotherKey(): void {
    this.repeatsCurrent = true
  }

  /**
   * Ends the attempt at the current channel. An attempt that was not made (`isRefunded`) does not
   * count towards the channel's limits, and its probes are given back.
   */
  end(isRefunded: boolean): void {
    this.permit?.release({ isRefunded })
    this.permit = null
    if (isRefunded && this.unusedProbes.length > 0) this.deps.breaker.release(this.unusedProbes)
    this.unusedProbes = NO_PROBES
  }

  private probesAt(channelId: number): ReturnType<CircuitBreaker['enter']> {
    return this.isLastResort ? null : this.deps.breaker.enter(channelId, this.model)
  }

  private async enter(
    channel: RelayChannel,
    claims: readonly Claim[],
  ): Promise<RelayChannel | null> {
    const permit = await this.deps.limits.enter(`channel:${channel.channelId}`, claims)
    if (isFull(permit)) return this.skipFull(channel, permit.waitMs)
    this.permit = permit
    // A circuit is probed only after the permit is acquired, because a full channel gets no call.
    return this.probe(channel, this.probesAt(channel.channelId))
  }

  private async probe(
    channel: RelayChannel,
    pendingProbes: ReturnType<CircuitBreaker['enter']>,
  ): Promise<RelayChannel | null> {
    const probes = pendingProbes === null ? NO_PROBES : await pendingProbes
    if (probes === false) {
      this.end(true)
      return this.next()
    }
    this.probes = probes
    this.unusedProbes = probes
    this.current = channel
    return channel
  }

  private skipFull(
    channel: RelayChannel,
    waitMs: number,
  ): RelayChannel | null | Promise<RelayChannel | null> {
    this.retryAfterMs = this.retryAfterMs === 0 ? waitMs : Math.min(this.retryAfterMs, waitMs)
    this.leaveOut(channel)
    return this.next()
  }

  private leaveOut(channel: RelayChannel): void {
    this.seen ??= new Set()
    this.seen.add(channel)
  }

  private drawNext(): RelayChannel | null {
    const { preferred } = this
    this.preferred = null
    if (preferred !== null && this.isHealthy(preferred)) return preferred
    const channel = this.draw.next()
    if (channel !== null || this.isLastResort) return channel
    this.isLastResort = true
    this.draw = new ChannelDraw(this.offer, (untried) => this.isUntried(untried), Math.random)
    return this.draw.next()
  }

  private isUnexpiredNow({ terms }: RelayChannel): boolean {
    return isUnexpired(terms, this.deps.now())
  }

  private isAvailable(channel: RelayChannel): boolean {
    const now = this.deps.now()
    if (!isUnexpired(channel.terms, now) || this.seen?.has(channel) === true) return false
    return !this.deps.breaker.isAvoided(channel.channelId, this.model, now)
  }

  private isHealthy({ channelId, terms }: RelayChannel): boolean {
    const now = this.deps.now()
    return isUnexpired(terms, now) && this.deps.breaker.isHealthy(channelId, this.model, now)
  }

  private isUntried(channel: RelayChannel): boolean {
    return this.isUnexpiredNow(channel) && this.seen?.has(channel) !== true
  }
}

const MINUTE_MS = 60_000

/**
 * The limits in a channel's terms. The terms of channels that were created before these limits
 * existed have no limits.
 */
type ChannelLimits = { readonly maxConcurrency?: number; readonly maxRpm?: number }

/** Returns the limits for an attempt at the channel; null when its terms set no limits. */
function channelClaims(
  channelId: number,
  { maxConcurrency = 0, maxRpm = 0 }: ChannelLimits,
): readonly Claim[] | null {
  if (maxConcurrency <= 0 && maxRpm <= 0) return null
  const claims: Claim[] = []
  const key = `channel:${channelId}`
  if (maxConcurrency > 0) claims.push({ kind: 'permits', key, max: maxConcurrency })
  if (maxRpm > 0) {
    claims.push({ kind: 'rate', key, max: maxRpm, periodMs: MINUTE_MS, isRefundable: true })
  }
  return claims
}
