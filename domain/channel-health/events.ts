import type { Fact } from '../shared/event.ts'

/** Every channel's circuits are in a stream of its own: they change without anybody's doing. */
export const channelHealthStream = (channelId: number): string => `channel-health-${channelId}`

/**
 * What a circuit is of: the whole channel, one model of it (as callers name it), or one of its
 * keys (by its reference).
 */
export type CircuitScope = {
  readonly channelId: number
  readonly model: string | null
  readonly keyRef: string | null
}

/** Calls pass this by until `until` (unix milliseconds); then one of them tries it. */
export type CircuitOpened = Fact<
  'CircuitOpened',
  CircuitScope & {
    /** A code (`connect`, `timeout`, `status-503`…): never a provider's text. */
    readonly reason: string
    /** How many calls failed before it opened. */
    readonly failures: number
    /** How often it opened since it was closed, from 1: the pause grows with it. */
    readonly round: number
    readonly until: number
  }
>

/** One call tries it, sent by `prober` (one process); past `until` another one may. */
export type CircuitHalfOpened = Fact<
  'CircuitHalfOpened',
  CircuitScope & { readonly prober: string; readonly until: number }
>

/**
 * What showed that it is well again: the call that tried it, or a test. `change`: an admin gave the
 * channel another key or address, of which nothing is known yet. `admin`: one closed it by hand.
 */
export type CircuitClosed = Fact<
  'CircuitClosed',
  CircuitScope & { readonly reason: 'probe' | 'test' | 'change' | 'admin' }
>

export type ChannelHealthEvent = CircuitOpened | CircuitHalfOpened | CircuitClosed
