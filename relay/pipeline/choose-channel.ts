import type { CircuitScope } from '#domain/channel-health/events.ts'
import { Draw } from '#domain/routing/draw.ts'
import type { Offer } from '#domain/routing/offer.ts'
import { isFull, type Limits, type Permit } from '#infra/limits/port.ts'
import { type ChannelLimits, channelClaims } from '#relay/limits/channel-claims.ts'
import type { Breaker } from '../channel-health/breaker.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import type { AttemptEnd, AttemptError } from './call-upstream.ts'
import { isValid } from './plan-call.ts'

/** Another channel can't do better: the failure has nothing to do with the provider. */
const NOT_PROVIDERS: ReadonlySet<AttemptError> = new Set([
  'caller-gone',
  'draining',
  'revoked',
  'screened',
  'balance-spent',
  'store-unavailable',
])

/**
 * Whether another channel may do better: the provider is at fault, at its limits, or refuses our
 * key. A plain answer that did not come in time is not asked for again, because the provider goes
 * on working on it, and each further one would charge for it as well.
 */
export function isRetryable(
  end: Extract<AttemptEnd, { readonly kind: 'failed' }>,
  isStream: boolean,
): boolean {
  const { error, status, isDispatched } = end
  if (NOT_PROVIDERS.has(error)) return false
  if (error === 'timeout' && isDispatched === true && !isStream) return false
  if (error !== 'status' || status === null) return true
  if (status >= 500 || (status >= 300 && status <= 399)) return true
  return [401, 402, 403, 408, 409, 429].includes(status)
}

type Deps = {
  readonly breaker: Breaker
  readonly limits: Limits
  readonly now: () => number
}

const NO_PROBES: readonly CircuitScope[] = []

/**
 * Selects the channels of one call, one at a time, each once unless `again` is called. Channels
 * that have an open circuit or are full are skipped. Where no others are left, those with an open
 * circuit are tried as well, because the only channel of a model must not be shut off, and one that
 * has recovered may be the only one that works. Selection awaits nothing where no circuit is open
 * and no channel has a limit.
 */
export class ChannelSelector {
  private readonly deps: Deps
  private readonly offer: Offer<RelayChannel>
  private readonly model: string
  private draw: Draw<RelayChannel>
  private isLastResort: boolean
  /** Channels that are full or had their turn. */
  private seen: Set<RelayChannel> | null = null
  private turned: RelayChannel | null = null
  private permit: Permit | null = null
  private isAgain = false
  /** The circuits that the current channel probes. */
  probes = NO_PROBES
  /** Milliseconds until a full channel may have room; 0: none was full. */
  fullMs = 0

  /** `isPinned`: the caller named the channel, so that its circuit is not considered. */
  constructor(deps: Deps, offer: Offer<RelayChannel>, model: string, isPinned: boolean) {
    this.deps = deps
    this.offer = offer
    this.model = model
    this.isLastResort = isPinned
    this.draw = new Draw(offer, isPinned ? this.isValidNow : this.isFit, Math.random)
  }

  /**
   * Returns the next channel to try, or null when none is left. Call `end` for the present attempt
   * before calling `next` again.
   */
  next(): RelayChannel | null | Promise<RelayChannel | null> {
    // Recorded on the second turn, because nearly every call has only one.
    if (this.turned !== null) this.leaveOut(this.turned)
    const channel = this.isAgain ? this.turned : this.drawn()
    this.isAgain = false
    if (channel === null) return null
    const { channelId, terms } = channel
    const asking = this.isLastResort ? null : this.deps.breaker.enter(channelId, this.model)
    const claims = channelClaims(channelId, terms as ChannelLimits)
    this.probes = NO_PROBES
    if (asking !== null || claims !== null) return this.enter(channel, asking, claims)
    this.turned = channel
    return channel
  }

  /** The next turn goes to the same channel, for another of its keys. */
  again(): void {
    this.isAgain = true
  }

  end(isRefunded: boolean): void {
    this.permit?.release({ isRefunded })
    this.permit = null
  }

  private async enter(
    channel: RelayChannel,
    asking: ReturnType<Breaker['enter']>,
    claims: ReturnType<typeof channelClaims>,
  ): Promise<RelayChannel | null> {
    if (claims !== null) {
      const permit = await this.deps.limits.enter(`channel:${channel.channelId}`, claims)
      if (isFull(permit)) return this.passFull(channel, permit.waitMs)
      this.permit = permit
    }
    const probes = asking === null ? NO_PROBES : await asking
    if (probes === false) {
      this.end(true)
      return this.next()
    }
    this.probes = probes
    this.turned = channel
    return channel
  }

  private passFull(
    channel: RelayChannel,
    waitMs: number,
  ): RelayChannel | null | Promise<RelayChannel | null> {
    this.fullMs = this.fullMs === 0 ? waitMs : Math.min(this.fullMs, waitMs)
    this.leaveOut(channel)
    return this.next()
  }

  private leaveOut(channel: RelayChannel): void {
    this.seen ??= new Set()
    this.seen.add(channel)
  }

  private drawn(): RelayChannel | null {
    const channel = this.draw.next()
    if (channel !== null || this.isLastResort) return channel
    this.isLastResort = true
    this.draw = new Draw(this.offer, this.isLeft, Math.random)
    return this.draw.next()
  }

  private readonly isValidNow = ({ terms }: RelayChannel): boolean =>
    isValid(terms, this.deps.now())

  private readonly isFit = (channel: RelayChannel): boolean => {
    const now = this.deps.now()
    if (!isValid(channel.terms, now)) return false
    return !this.deps.breaker.isAvoided(channel.channelId, this.model, now)
  }

  private readonly isLeft = (channel: RelayChannel): boolean =>
    this.isValidNow(channel) && this.seen?.has(channel) !== true
}
