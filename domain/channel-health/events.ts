import type { Fact } from '../shared/event.ts'

/** Circuits have a separate stream because they change without an action of an admin. */
export const channelHealthStream = (channelId: number): string => `channel-health-${channelId}`

/** The entire channel, one model (by the name that callers use), or one key (by its reference). */
export type CircuitScope = {
  readonly channelId: number
  readonly model: string | null
  readonly keyRef: string | null
}

/** Calls avoid the circuit's channel, model or key until the time `until` (unix milliseconds). */
export type CircuitOpened = Fact<
  'CircuitOpened',
  CircuitScope & {
    /**
     * The code of the last failure (`connect`, `timeout`, `status-503`…), never the provider's
     * text.
     */
    readonly reason: string
    readonly failures: number
    /** How often the circuit has opened since it was last closed, from 1. Each pause is longer. */
    readonly round: number
    readonly until: number
  }
>

/** `prober` may send one trial call. After the time `until`, another process may send one. */
export type CircuitHalfOpened = Fact<
  'CircuitHalfOpened',
  CircuitScope & { readonly prober: string; readonly until: number }
>

/**
 * `probe` and `test`: a trial call or a test succeeded. `change`: an admin gave the channel another
 * key or address, whose health is unknown. `admin`: an admin closed the circuit.
 */
export type CircuitClosed = Fact<
  'CircuitClosed',
  CircuitScope & { readonly reason: 'probe' | 'test' | 'change' | 'admin' }
>

export type ChannelHealthEvent = CircuitOpened | CircuitHalfOpened | CircuitClosed
