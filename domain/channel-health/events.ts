import type { Fact } from '../shared/event.ts'

/**
 * Each channel has a separate stream for its circuits, because they change without an admin's
 * action.
 */
export const channelHealthStream = (channelId: number): string => `channel-health-${channelId}`

/**
 * The scope of a circuit: the whole channel, one model of it (by the name that callers use), or one
 * of its keys (by its reference).
 */
export type CircuitScope = {
  readonly channelId: number
  readonly model: string | null
  readonly keyRef: string | null
}

/** Calls avoid the channel until `until` (unix milliseconds); then one call tries it. */
export type CircuitOpened = Fact<
  'CircuitOpened',
  CircuitScope & {
    /** A code (`connect`, `timeout`, `status-503`…), never the text of a provider. */
    readonly reason: string
    /** The number of failed calls that opened the circuit. */
    readonly failures: number
    /**
     * How often the circuit has opened since it was last closed, from 1: the pause grows with it.
     */
    readonly round: number
    readonly until: number
  }
>

/** One call, sent by the process `prober`, tries the channel; after `until` another process may. */
export type CircuitHalfOpened = Fact<
  'CircuitHalfOpened',
  CircuitScope & { readonly prober: string; readonly until: number }
>

/**
 * `reason` says why the circuit was closed. `probe`: the call that tried it succeeded. `test`: a
 * test succeeded. `change`: an admin gave the channel another key or address, whose health is
 * unknown. `admin`: an admin closed it by hand.
 */
export type CircuitClosed = Fact<
  'CircuitClosed',
  CircuitScope & { readonly reason: 'probe' | 'test' | 'change' | 'admin' }
>

export type ChannelHealthEvent = CircuitOpened | CircuitHalfOpened | CircuitClosed
