import type { CodedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import type { ChannelHealthEvent, CircuitScope } from './events.ts'

/** How long it stays open: `baseMs`, doubled each round, up to `maxMs`; a little more by chance. */
export type Cooldown = {
  readonly baseMs: number
  readonly maxMs: number
  /** 0 up to 1: so that the circuits of one provider don't all end in the same moment. */
  readonly jitter: number
  /** What the provider itself asked for; 0 nothing. */
  readonly retryAfterMs: number
}

/** `prober` when it is the call that tried it which failed; null otherwise. */
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

/** Asks to be the one that tries it; done in vain when it is not time, or another one's turn. */
type ProbeCircuit = {
  readonly type: 'ProbeCircuit'
  readonly scope: CircuitScope
  readonly prober: string
  /** How long the try may take before another one may have it. */
  readonly leaseMs: number
  readonly at: number
}

/** `prober` is named by the call that tried it; a test and an admin need none. */
type CloseCircuit = {
  readonly type: 'CloseCircuit'
  readonly scope: CircuitScope
  readonly reason: 'probe' | 'test' | 'admin'
  readonly prober: string | null
}

/** Closes every circuit of the channel: an admin changed the channel, or says that it is well. */
type CloseCircuits = { readonly type: 'CloseCircuits'; readonly reason: 'change' | 'admin' }

export type ChannelHealthCommand = OpenCircuit | ProbeCircuit | CloseCircuit | CloseCircuits

/** Names a circuit among those of its channel. References have no bar, so the first one parts. */
export const scopeKey = ({ model, keyRef }: Omit<CircuitScope, 'channelId'>): string =>
  `${keyRef ?? ''}|${model === null ? '' : `=${model}`}`

/** A circuit that is not closed. `prober` null: open; else one call is trying it. */
type Circuit = {
  readonly scope: CircuitScope
  readonly round: number
  readonly until: number
  readonly prober: string | null
}

/** By scope. Closed circuits are not in it. */
type ChannelHealth = Map<string, Circuit>

const initialHealth = (): ChannelHealth => new Map()

/** Nothing is ever refused: what comes too late or twice changes nothing. */
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
 * Calls that were under way when it opened fail late: only the one that tried it counts then. One
 * that tried it and fails after it was closed by a test or an admin doesn't open it by itself.
 */
function open(command: OpenCircuit, circuit: Circuit | undefined): readonly ChannelHealthEvent[] {
  const { scope, reason, failures, cooldown, prober, at } = command
  if ((circuit?.prober ?? null) !== prober) return []
  if (circuit !== undefined && circuit.prober === null) return []
  const round = (circuit?.round ?? 0) + 1
  const until = at + pauseMs(cooldown, round)
  return [{ type: 'CircuitOpened', v: 1, data: { ...scope, reason, failures, round, until } }]
}

/** Once the pause is over, or whoever was to try it has been silent for too long. */
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

/** What the provider asked for is kept to, even where it is longer than ours. */
export function pauseMs({ baseMs, maxMs, jitter, retryAfterMs }: Cooldown, round: number): number {
  const spread = jitter * JITTER_SHARE
  const grown = baseMs * 2 ** Math.min(round - 1, DOUBLINGS_MAX) * (1 + spread)
  // The longest is the longest: jitter goes below it there, though not below the first.
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
