import { describe, expect, it } from 'vitest'
import { type Cooldown, channelHealthDecider, pauseMs } from '#domain/channel-health/decide.ts'
import type { ChannelHealthEvent, CircuitScope } from '#domain/channel-health/events.ts'
import { specificationOf, stored } from '#test/support/given-when-then.ts'

const { given } = specificationOf(channelHealthDecider)
const scope: CircuitScope = { channelId: 4, model: null, keyRef: null }
const cooldown: Cooldown = { baseMs: 30_000, maxMs: 600_000, jitter: 0, retryAfterMs: 0 }
const NOW = 1_000_000

const open = (fields: { at?: number; prober?: string; retryAfterMs?: number } = {}) => ({
  type: 'OpenCircuit' as const,
  scope,
  reason: 'connect',
  failures: 5,
  cooldown: { ...cooldown, retryAfterMs: fields.retryAfterMs ?? 0 },
  prober: fields.prober ?? null,
  at: fields.at ?? NOW,
})
const probe = (at: number, prober = 'a') => ({
  type: 'ProbeCircuit' as const,
  scope,
  prober,
  leaseMs: 60_000,
  at,
})
const release = (at: number, prober = 'a') => ({
  type: 'ReleaseProbe' as const,
  scope,
  prober,
  pauseMs: 1_000,
  at,
})
const close = (prober: string | null, reason: 'probe' | 'test' = 'probe') => ({
  type: 'CloseCircuit' as const,
  scope,
  reason,
  prober,
})
const opened = (until: number, round = 1, failures = 5): ChannelHealthEvent => ({
  type: 'CircuitOpened',
  v: 1,
  data: { ...scope, reason: 'connect', failures, round, until },
})
const halfOpened = (until: number, prober = 'a'): ChannelHealthEvent => ({
  type: 'CircuitHalfOpened',
  v: 1,
  data: { ...scope, prober, until },
})
const closed = (reason: 'probe' | 'test' = 'probe'): ChannelHealthEvent => ({
  type: 'CircuitClosed',
  v: 1,
  data: { ...scope, reason },
})

describe('a circuit', () => {
  it('opens once for its pause; later failures of calls in progress change nothing', () => {
    given()
      .when(open())
      .then([opened(NOW + 30_000)])
    given(opened(NOW + 30_000))
      .when(open({ at: NOW + 9 }))
      .then([])
    given(opened(NOW + 30_000), halfOpened(NOW + 90_000))
      .when(open({ at: NOW + 31_000 }))
      .then([])
  })

  it('admits one probe after its pause, and the next only when that probe’s lease ends', () => {
    const past = opened(NOW)
    given(opened(NOW + 1))
      .when(probe(NOW))
      .then([])
    given(past)
      .when(probe(NOW))
      .then([halfOpened(NOW + 60_000)])
    given(past, halfOpened(NOW + 60_000))
      .when(probe(NOW + 59_999, 'b'))
      .then([])
    given(past, halfOpened(NOW + 60_000))
      .when(probe(NOW + 60_000, 'b'))
      .then([halfOpened(NOW + 120_000, 'b')])
    given().when(probe(NOW)).then([])
  })

  it('admits another probe soon after its prober has given its probe back', () => {
    const tried = [opened(NOW), halfOpened(NOW + 60_000)]
    given(...tried)
      .when(release(NOW + 5))
      .then([halfOpened(NOW + 1_005)])
    given(...tried, halfOpened(NOW + 1_005))
      .when(probe(NOW + 1_005, 'b'))
      .then([halfOpened(NOW + 61_005, 'b')])
    given(...tried)
      .when(release(NOW + 5, 'b'))
      .then([])
    given(...tried)
      .when(release(NOW + 59_500))
      .then([])
    given(opened(NOW)).when(release(NOW)).then([])
    given().when(release(NOW)).then([])
  })

  it('is closed only by the call that probes it or by a channel test', () => {
    const tried = [opened(NOW), halfOpened(NOW + 60_000)]
    given(...tried)
      .when(close('a'))
      .then([closed()])
    given(...tried)
      .when(close('b'))
      .then([])
    given(opened(NOW)).when(close('a')).then([])
    given(opened(NOW))
      .when(close(null, 'test'))
      .then([closed('test')])
    given().when(close(null, 'test')).then([])
  })

  it('opens again for twice as long each time its probe fails', () => {
    given(opened(NOW), halfOpened(NOW + 60_000))
      .when(open({ prober: 'a' }))
      .then([opened(NOW + 60_000, 2)])
    given(opened(NOW, 2), halfOpened(NOW + 60_000))
      .when(open({ prober: 'a' }))
      .then([opened(NOW + 120_000, 3)])
    given(opened(NOW, 9), closed())
      .when(open())
      .then([opened(NOW + 30_000)])
  })

  it('is separate for a model, a key and the whole channel', () => {
    const ofModel = { ...scope, model: 'm' }
    const ofKey = { ...scope, keyRef: 'key-2' }
    const facts = [scope, ofModel, ofKey].map((of) => ({
      ...opened(NOW),
      data: { ...opened(NOW).data, ...of },
    })) as ChannelHealthEvent[]
    const { state } = given(...facts)
    expect(state.size).toBe(3)
    given(...facts)
      .when({ ...close(null, 'test'), scope: ofModel })
      .then([{ ...closed('test'), data: { ...ofModel, reason: 'test' } } as ChannelHealthEvent])
  })

  it('closes with all other circuits of its channel when that channel is changed', () => {
    const ofKey = { ...opened(NOW), data: { ...opened(NOW).data, keyRef: 'key-2' } }
    const { state } = given(opened(NOW), halfOpened(NOW + 60_000), ofKey as ChannelHealthEvent)
    expect(state.size).toBe(2)
    const change = { ...closed().data, reason: 'change' }
    given(opened(NOW), halfOpened(NOW + 60_000), ofKey as ChannelHealthEvent)
      .when({ type: 'CloseCircuits', reason: 'change' })
      .then([
        { type: 'CircuitClosed', v: 1, data: change } as ChannelHealthEvent,
        { type: 'CircuitClosed', v: 1, data: { ...change, keyRef: 'key-2' } } as ChannelHealthEvent,
      ])
    given().when({ type: 'CloseCircuits', reason: 'change' }).then([])
  })

  it('can be closed by an admin; the failing probe then does not open it again', () => {
    const byHand = { ...closed().data, reason: 'admin' }
    given(opened(NOW), halfOpened(NOW + 60_000))
      .when({ type: 'CloseCircuits', reason: 'admin' })
      .then([{ type: 'CircuitClosed', v: 1, data: byHand } as ChannelHealthEvent])
    given(opened(NOW), halfOpened(NOW + 60_000), {
      type: 'CircuitClosed',
      v: 1,
      data: byHand,
    } as ChannelHealthEvent)
      .when(open({ prober: 'a' }))
      .then([])
  })

  it('is identical after a snapshot is restored', () => {
    const { state } = given(opened(NOW), halfOpened(NOW + 60_000))
    const codec = channelHealthDecider.snapshot
    expect(codec?.decode(stored(codec.encode(state)))).toEqual(state)
  })
})

describe('the pause of a circuit', () => {
  it('doubles up to a maximum, has jitter, and is at least the provider’s Retry-After', () => {
    expect([1, 2, 3, 5, 6, 60].map((round) => pauseMs(cooldown, round))).toEqual([
      30_000, 60_000, 120_000, 480_000, 600_000, 600_000,
    ])
    expect(pauseMs({ ...cooldown, jitter: 0.5 }, 1)).toBe(33_000)
    expect(pauseMs({ ...cooldown, jitter: 0.5 }, 9)).toBe(540_000)
    const short = { baseMs: 834, maxMs: 1_000, jitter: 0.9999, retryAfterMs: 0 }
    expect([1, 2].map((round) => pauseMs(short, round))).toEqual([834, 834])
    expect(pauseMs({ ...cooldown, retryAfterMs: 45_000 }, 1)).toBe(45_000)
    expect(pauseMs({ ...cooldown, retryAfterMs: 5_000 }, 1)).toBe(30_000)
  })
})
