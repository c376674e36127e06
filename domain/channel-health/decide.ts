import type { CodedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { ChannelHealthEvent, CircuitScope } from './events.ts'

/**
 * The configuration of a circuit's pause, during which calls avoid a failing target. The first
 * pause lasts `baseMs`. Each time the circuit opens again, the pause is doubled, up to `maxMs`.
 * Random jitter is applied.
 */
export type Cooldown = {
  readonly baseMs: number
  readonly maxMs: number
  /**
   * A random number from 0 to 1. It prevents the circuits of a provider from ending their pauses at
   * the same time.
   */
  readonly jitter: number
  /** The pause in milliseconds that the provider requested, or 0. */
  readonly retryAfterMs: number
}

/**
 * Opens a circuit after a failure. `prober` is the process whose probe failed. It is null if an
 * ordinary call failed.
 */
type OpenCircuit = {
  readonly type: 'OpenCircuit'
  readonly scope: CircuitScope
  readonly reason: string
  readonly failures: number
  readonly cooldown: Cooldown
  readonly prober: string | null
  /** The current time in Unix milliseconds. */
  readonly at: number
}

/**
 * Half-opens a circuit, so that the process `prober` may send one probe. A probe is a call that
 * shows whether the circuit can be closed. The command changes nothing if the circuit is closed,
 * during the pause, or while a process may already send a probe.
 */
type ProbeCircuit = {
  readonly type: 'ProbeCircuit'
  readonly scope: CircuitScope
  readonly prober: string
  /**
   * The time in milliseconds after which the permission ends, so that another process may send a
   * probe.
   */
  readonly leaseMs: number
  readonly at: number
}

/**
 * Gives back the permission for a probe that the process `prober` could not send. The next probe
 * may be sent after `pauseMs` milliseconds. Without this pause, a series of probes that can't be
 * sent would fill the stream with events.
 */
type ReleaseProbe = {
  readonly type: 'ReleaseProbe'
  readonly scope: CircuitScope
  readonly prober: string
  readonly pauseMs: number
  readonly at: number
}

/**
 * Closes a circuit. `prober` is the process whose probe succeeded. It is null if a channel test or
 * an admin closed the circuit.
 */
type CloseCircuit = {
  readonly type: 'CloseCircuit'
  readonly scope: CircuitScope
  readonly reason: 'probe' | 'test' | 'admin'
  readonly prober: string | null
}

type CloseCircuits = { readonly type: 'CloseCircuits'; readonly reason: 'change' | 'admin' }

export type ChannelHealthCommand =
  | OpenCircuit
  | ProbeCircuit
  | ReleaseProbe
  | CloseCircuit
  | CloseCircuits

/**
 * Returns the text that identifies a circuit within its channel. Only a model name may contain a
 * `|`, so two circuits never have the same text.
 */
export const scopeKey = ({ model, keyRef }: Omit<CircuitScope, 'channelId'>): string =>
  `${keyRef ?? ''}|${model === null ? '' : `=${model}`}`

/**
 * An open or half-open circuit. `prober` is the process that may send a probe, or null while the
 * circuit is open.
 */
type Circuit = {
  readonly scope: CircuitScope
  readonly round: number
  readonly until: number
  readonly prober: string | null
}

/** The circuits of a channel by `scopeKey`. Closed circuits have no entry. */
type ChannelHealth = Map<string, Circuit>

const initialHealth = (): ChannelHealth => new Map()

/**
 * The decider of a channel's circuits. It never returns an error. A command that arrives too late
 * changes nothing.
 */
export const channelHealthDecider: Decider<
  ChannelHealth,
  ChannelHealthCommand,
  ChannelHealthEvent,
  CodedError<never>
> = {
  initialState: initialHealth,
  decide: (command, circuits) => {
    if (command.type === 'CloseCircuits') return closeAll(circuits, command.reason)
    const circuit = circuits.get(scopeKey(command.scope))
    switch (command.type) {
      case 'OpenCircuit':
        return open(command, circuit)
      case 'ProbeCircuit':
        return probe(command, circuit)
      case 'ReleaseProbe':
        return release(command, circuit)
      case 'CloseCircuit':
        return close(command, circuit)
    }
  },
  evolve,
  snapshot: {
    version: 1,
    encode: (circuits) => [...circuits.values()],
    decode: (stored) =>
      new Map((stored as readonly Circuit[]).map((circuit) => [scopeKey(circuit.scope), circuit])),
  },
}

/**
 * Opens a closed circuit, or a half-open circuit whose probe failed. All other failures are
 * ignored, because they belong to calls that were sent before the circuit opened, or to outdated
 * probes.
 */
function open(command: OpenCircuit, circuit: Circuit | undefined): readonly ChannelHealthEvent[] {
  const { scope, reason, failures, cooldown, prober, at } = command
  if ((circuit?.prober ?? null) !== prober) return []
  if (circuit !== undefined && circuit.prober === null) return []
  const round = (circuit?.round ?? 0) + 1
  const until = at + pauseMs(cooldown, round)
  return [{ type: 'CircuitOpened', v: 1, data: { ...scope, reason, failures, round, until } }]
}

/**
 * Half-opens a circuit after its pause. If a probe has no result in time, the circuit is
 * half-opened again for the process that asks next.
 */
function probe(
  { scope, prober, leaseMs, at }: ProbeCircuit,
  circuit: Circuit | undefined,
): readonly ChannelHealthEvent[] {
  if (circuit === undefined || at < circuit.until) return []
  return [{ type: 'CircuitHalfOpened', v: 1, data: { ...scope, prober, until: at + leaseMs } }]
}

/** Shortens the time during which only the process `prober` may send a probe. */
function release(
  { scope, prober, pauseMs, at }: ReleaseProbe,
  circuit: Circuit | undefined,
): readonly ChannelHealthEvent[] {
  const until = at + pauseMs
  if (circuit?.prober !== prober || circuit.until <= until) return []
  return [{ type: 'CircuitHalfOpened', v: 1, data: { ...scope, prober, until } }]
}

function close(
  { scope, reason, prober }: CloseCircuit,
  circuit: Circuit | undefined,
): readonly ChannelHealthEvent[] {
  if (circuit === undefined) return []
  const isProbers = circuit.prober !== null && circuit.prober === prober
  if (reason === 'probe' && !isProbers) return []
  return [{ type: 'CircuitClosed', v: 1, data: { ...scope, reason } }]
}

const closeAll = (
  circuits: ChannelHealth,
  reason: CloseCircuits['reason'],
): readonly ChannelHealthEvent[] =>
  [...circuits.values()].map(({ scope }) => ({
    type: 'CircuitClosed',
    v: 1,
    data: { ...scope, reason },
  }))

const JITTER_SHARE = 0.2
const DOUBLINGS_MAX = 20

/**
 * Returns the longer of two pauses in milliseconds: the computed pause and the pause that the
 * provider requested. `round` is the number of times that the circuit has opened since it was last
 * closed. Jitter adds at most 20 % to the computed pause, or removes at most 20 % from `maxMs`.
 */
export function pauseMs({ baseMs, maxMs, jitter, retryAfterMs }: Cooldown, round: number): number {
  const spread = jitter * JITTER_SHARE
  const grown = baseMs * 2 ** Math.min(round - 1, DOUBLINGS_MAX) * (1 + spread)
  const pause = grown <= maxMs ? grown : Math.max(maxMs * (1 - spread), Math.min(baseMs, maxMs))
  return Math.max(Math.round(pause), retryAfterMs)
}

function evolve(circuits: ChannelHealth, { type, data }: ChannelHealthEvent): ChannelHealth {
  const { channelId, model, keyRef } = data
  const scope = { channelId, model, keyRef }
  const key = scopeKey(scope)
  switch (type) {
    case 'CircuitOpened':
      circuits.set(key, { scope, round: data.round, until: data.until, prober: null })
      break
    case 'CircuitHalfOpened': {
      const round = circuits.get(key)?.round ?? 1
      circuits.set(key, { scope, round, until: data.until, prober: data.prober })
      break
    }
    case 'CircuitClosed':
      circuits.delete(key)
  }
  return circuits
}
