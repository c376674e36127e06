import type { RelayChannel } from '#relay/views/channel-view.ts'
import type { AttemptEnd } from './call-upstream.ts'

/** The provider's own trouble, its limits, or its quarrel with our key: another may do better. */
export function isRetryable(end: Extract<AttemptEnd, { readonly kind: 'failed' }>): boolean {
  const { error, status } = end
  if (error === 'caller-gone' || error === 'draining') return false
  if (error !== 'status' || status === null) return true
  if (status >= 500 || (status >= 300 && status <= 399)) return true
  return [401, 402, 403, 408, 409, 429].includes(status)
}

/** Channels whose provider asked to be left alone for a while: tried after the others. */
export class Cooling {
  private readonly until = new Map<number, number>()

  note(channelId: number, retryAfterMs: number, now: number): void {
    if (retryAfterMs > 0) this.until.set(channelId, now + retryAfterMs)
  }

  last(channels: readonly RelayChannel[], now: number): readonly RelayChannel[] {
    if (this.until.size === 0) return channels
    for (const [channelId, until] of this.until) if (until <= now) this.until.delete(channelId)
    const isCooling = (channel: RelayChannel) => this.until.has(channel.channelId)
    return [...channels.filter((one) => !isCooling(one)), ...channels.filter(isCooling)]
  }
}

const SHARE = 0.2
const LEAST = 3

/** Tries beyond the first, over all calls: a fifth of those under way, against storms. */
export class RetryBudget {
  private underWay = 0

  enter(callsUnderWay: number): boolean {
    if (this.underWay >= Math.max(LEAST, callsUnderWay * SHARE)) return false
    this.underWay += 1
    return true
  }

  leave(): void {
    this.underWay -= 1
  }
}
