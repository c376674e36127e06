import type { Fact } from '../shared/event.ts'

/**
 * Returns the name of the stream for a channel's circuits. Circuits have a separate stream because
 * they change without an action of an admin.
 */
export const channelHealthStream = (channelId: number): string => `channel-health-${channelId}`

/**
 * The scope of a circuit: the entire channel, one model (by the name that callers use), or one key
 * (by its reference).
 */
export type CircuitScope = {
  readonly channelId: number
  readonly model: string | null
  readonly keyRef: string | null
}

/**
 * A circuit was opened. Calls avoid its channel, model or key until the time `until` (unix
 * milliseconds). After that time, one trial call is sent.
 */
export type CircuitOpened = Fact<
  'CircuitOpened',
  CircuitScope & {
    /**
     * The code of the last failure (`connect`, `timeout`, `status-503`…), never the provider's
     * text.
     */
    readonly reason: string
    /** The number of failed calls that opened the circuit. */
    readonly failures: number
    /**
     * The number of times that the circuit has opened since it was last closed, from 1. Each pause
     * is longer than the previous one.
     */
    readonly round: number
    readonly until: number
  }
>

/**
 * The process `prober` may send one trial call to the channel. After the time `until`, another
 * process may send one.
 */
export type CircuitHalfOpened = Fact<
  'CircuitHalfOpened',
  CircuitScope & { readonly prober: string; readonly until: number }
>

/**
 * A circuit was closed, for one of four reasons.
 * `probe`: the call that tried the circuit succeeded.
 * `test`: a test succeeded.
 * `change`: an admin gave the channel another key or address, whose health is unknown.
 * `admin`: an admin closed the circuit.
 */
export type CircuitClosed = Fact<
  'CircuitClosed',
  CircuitScope & { readonly reason: 'probe' | 'test' | 'change' | 'admin' }
>

export type ChannelHealthEvent = CircuitOpened | CircuitHalfOpened | CircuitClosed
