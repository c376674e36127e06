import type { CodedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { ChannelHealthEvent, CircuitScope } from './events.ts'

/**
 * How long a circuit stays open: `baseMs`, doubled in each round, up to `maxMs`, plus some jitter.
 */
export type Cooldown = {
  readonly baseMs: number
  readonly maxMs: number
  /** From 0 to 1: it spreads the moments at which the circuits of one provider are tried again. */
  readonly jitter: number
  /** The pause that the provider requested; 0 means none. */
  readonly retryAfterMs: number
}

/** `prober` is set where the failed call was the one that tried the circuit, and null otherwise. */
type OpenCircuit = {
  readonly type: 'OpenCircuit'
  readonly scope: CircuitScope
  readonly reason: string
  readonly failures: number
  readonly cooldown: Cooldown
  readonly prober: string | null
  /** Unix milliseconds. */
  readonly at: number
}

/**
 * Requests permission to try the circuit. It changes nothing during the pause or while another
 * process is trying.
 */
type ProbeCircuit = {
  readonly type: 'ProbeCircuit'
  readonly scope: CircuitScope
  readonly prober: string
  /** How long the attempt may take before another process may try. */
  readonly leaseMs: number
  readonly at: number
}

/** `prober` is set by the call that tried the circuit; a test and an admin have none. */
type CloseCircuit = {
  readonly type: 'CloseCircuit'
  readonly scope: CircuitScope
  readonly reason: 'probe' | 'test' | 'admin'
  readonly prober: string | null
}

/**
 * Closes every circuit of the channel, because an admin changed the channel or reset its health.
 */
type CloseCircuits = { readonly type: 'CloseCircuits'; readonly reason: 'change' | 'admin' }

export type ChannelHealthCommand = OpenCircuit | ProbeCircuit | CloseCircuit | CloseCircuits

/**
 * The key of a circuit within its channel. References contain no bar, so that the first bar is the
 * separator.
 */
export const scopeKey = ({ model, keyRef }: Omit<CircuitScope, 'channelId'>): string =>
  `${keyRef ?? ''}|${model === null ? '' : `=${model}`}`

/** A circuit that is open (`prober` is null) or half-open (`prober` is trying it). */
type Circuit = {
  readonly scope: CircuitScope
  readonly round: number
  readonly until: number
  readonly prober: string | null
}

/** Circuits by `scopeKey`. Closed circuits have no entry. */
type ChannelHealth = Map<string, Circuit>

const initialHealth = (): ChannelHealth => new Map()

/** No command is ever refused: late and repeated commands change nothing. */
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
 * Calls that were in flight when the circuit opened fail late, so that only the failure of the call
 * that tried the circuit counts while it is half-open. If a test or an admin closed the circuit
 * meanwhile, the failure of that call alone does not open it.
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
 * Half-opens the circuit when its pause is over, or when the process that was to try it has not
 * reported in time.
 */
function probe(
  { scope, prober, leaseMs, at }: ProbeCircuit,
  circuit: Circuit | undefined,
): readonly ChannelHealthEvent[] {
  if (circuit === undefined || at < circuit.until) return []
  return [{ type: 'CircuitHalfOpened', v: 1, data: { ...scope, prober, until: at + leaseMs } }]
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
 * A pause that the provider requested is honoured even where it is longer than the computed one.
 */
export function pauseMs({ baseMs, maxMs, jitter, retryAfterMs }: Cooldown, round: number): number {
  const spread = jitter * JITTER_SHARE
  const grown = baseMs * 2 ** Math.min(round - 1, DOUBLINGS_MAX) * (1 + spread)
  // `maxMs` is a hard limit: there the jitter shortens the pause, but never below the first pause.
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
