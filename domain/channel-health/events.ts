import type { Fact } from '../shared/event.ts'

/**
 * Returns the name of the stream of a channel's circuits. Circuits change without an action of an
 * admin, so this stream is separate from the channel's settings.
 */
export const channelHealthStream = (channelId: number): string => `channel-health-${channelId}`

/**
 * The target that an open circuit makes calls avoid: the entire channel, one model (by the name
 * that callers use), or one key (by its reference).
 */
export type CircuitScope = {
  readonly channelId: number
  readonly model: string | null
  readonly keyRef: string | null
}

/** Calls avoid the circuit's channel, model or key until the time `until` (Unix milliseconds). */
export type CircuitOpened = Fact<
  'CircuitOpened',
  CircuitScope & {
    /**
     * The error code of the last failure (`connect`, `timeout`, `status-503`…), but never the
     * provider's text.
     */
    readonly reason: string
    readonly failures: number
    /**
     * The number of times that the circuit has opened since it was last closed, from 1. The pause
     * grows with this number.
     */
    readonly round: number
    readonly until: number
  }
>

/**
 * The process `prober` may send one probe. A probe is a call that shows whether the circuit can be
 * closed. After the time `until`, another process may send a probe. If `prober` can't send the
 * probe, another event of this type sets an earlier `until`.
 */
export type CircuitHalfOpened = Fact<
  'CircuitHalfOpened',
  CircuitScope & { readonly prober: string; readonly until: number }
>

/**
 * `probe`: a probe succeeded. `test`: a channel test succeeded. `change`: an admin changed the
 * channel's key or address, so the health of the new target is unknown. `admin`: an admin closed
 * the circuit.
 */
export type CircuitClosed = Fact<
  'CircuitClosed',
  CircuitScope & { readonly reason: 'probe' | 'test' | 'change' | 'admin' }
>

export type ChannelHealthEvent = CircuitOpened | CircuitHalfOpened | CircuitClosed
