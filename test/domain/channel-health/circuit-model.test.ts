import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ChannelHealthCommand,
  type Cooldown,
  channelHealthDecider,
  scopeKey,
} from '#domain/channel-health/decide.ts'
import type { ChannelHealthEvent, CircuitScope } from '#domain/channel-health/events.ts'

const SCOPES: readonly CircuitScope[] = [
  { channelId: 4, model: null, keyRef: null },
  { channelId: 4, model: 'm', keyRef: null },
  { channelId: 4, model: null, keyRef: 'key-2' },
]
const scope = fc.constantFrom(...SCOPES)
const prober = fc.constantFrom('a', 'b')
const cooldown: fc.Arbitrary<Cooldown> = fc.record({
  baseMs: fc.integer({ min: 1, max: 1_000 }),
  maxMs: fc.integer({ min: 1_000, max: 20_000 }),
  jitter: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  retryAfterMs: fc.constantFrom(0, 0, 0, 30_000),
})
/** A command, and the time since the previous command. */
const step = fc.tuple(
  fc.integer({ min: 0, max: 4_000 }),
  fc.oneof(
    fc.record({
      type: fc.constant('OpenCircuit' as const),
      scope,
      reason: fc.constant('connect'),
      failures: fc.integer({ min: 1, max: 9 }),
      cooldown,
      prober: fc.option(prober, { nil: null }),
    }),
    fc.record({
      type: fc.constant('ProbeCircuit' as const),
      scope,
      prober,
      leaseMs: fc.integer({ min: 1, max: 3_000 }),
    }),
    fc.record({
      type: fc.constant('ReleaseProbe' as const),
      scope,
      prober,
      pauseMs: fc.integer({ min: 0, max: 1_000 }),
    }),
    fc.record({
      type: fc.constant('CloseCircuit' as const),
      scope,
      reason: fc.constantFrom('probe' as const, 'test' as const),
      prober: fc.option(prober, { nil: null }),
    }),
    fc.record({
      type: fc.constant('CloseCircuits' as const),
      reason: fc.constantFrom('change' as const, 'admin' as const),
    }),
  ),
)

type CircuitModel = { round: number; until: number; prober: string | null }
type DecidedEvent = { readonly event: ChannelHealthEvent; readonly command: ChannelHealthCommand }

/**
 * Returns how the event violates the rules of the README, given the previous state of its circuit.
 * Returns null if it is allowed.
 */
function faultOf(
  { event, command }: DecidedEvent,
  circuit: CircuitModel | undefined,
  at: number,
): string | null {
  const by = 'prober' in command ? command.prober : null
  switch (event.type) {
    case 'CircuitOpened': {
      if (command.type !== 'OpenCircuit') return 'opened by something else'
      if (circuit !== undefined && circuit.prober === null) return 'an open circuit opened again'
      if (circuit !== undefined && circuit.prober !== by) return 'opened again by a bystander'
      if (event.data.round !== (circuit?.round ?? 0) + 1) return 'a round left out'
      const { baseMs, maxMs, retryAfterMs } = command.cooldown
      const pause = event.data.until - at
      if (pause < Math.max(Math.min(baseMs, maxMs), retryAfterMs)) return 'too short a pause'
      return pause > Math.max(Math.ceil(maxMs * 1.2), retryAfterMs) ? 'too long a pause' : null
    }
    case 'CircuitHalfOpened':
      if (circuit === undefined) return 'a closed circuit was tried'
      if (command.type === 'ReleaseProbe') {
        if (circuit.prober !== by) return 'given back by a bystander'
        return event.data.until < circuit.until ? null : 'a probe given back for longer'
      }
      if (at < circuit.until) return 'tried before its time, or by two at once'
      return event.data.prober === by ? null : 'tried by another than who asked'
    case 'CircuitClosed':
      if (circuit === undefined) return 'a closed circuit closed'
      if (event.data.reason !== 'probe') return null
      return circuit.prober !== null && circuit.prober === by ? null : 'closed by a bystander'
  }
}

function after(
  { type, data }: ChannelHealthEvent,
  circuit: CircuitModel | undefined,
): CircuitModel | undefined {
  if (type === 'CircuitClosed') return undefined
  if (type === 'CircuitOpened') return { round: data.round, until: data.until, prober: null }
  return { round: circuit?.round ?? 0, until: data.until, prober: data.prober }
}

describe('circuits under random failures, probes and closings', () => {
  it('change state only in the allowed order, by the allowed caller, at the allowed time', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { decide, evolve, initialState } = channelHealthDecider
        let state = initialState()
        let at = 1_000_000
        const circuits = new Map<string, CircuitModel>()
        for (const [later, drawn] of steps) {
          at += later
          const command = { ...drawn, at } as ChannelHealthCommand
          const events = decide(command, state)
          if (!Array.isArray(events)) throw new Error('refused')
          for (const event of events as readonly ChannelHealthEvent[]) {
            const key = scopeKey(event.data)
            if ('scope' in command) expect(key).toBe(scopeKey(command.scope))
            expect(faultOf({ event, command }, circuits.get(key), at)).toBeNull()
            const next = after(event, circuits.get(key))
            if (next === undefined) circuits.delete(key)
            else circuits.set(key, next)
            state = evolve(state, event)
          }
          if (command.type === 'CloseCircuits') expect(state.size).toBe(0)
          expect([...state.keys()].sort()).toEqual([...circuits.keys()].sort())
        }
      }),
      { numRuns: 500 },
    )
  })
})
