import { expect, it, vi } from 'vitest'
import { offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import { CircuitBreaker } from '#relay/channel-health/circuit-breaker.ts'
import { OpenCircuitView } from '#relay/channel-health/open-circuit-view.ts'
import { ChannelSelector } from '#relay/pipeline/channel-selector.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'

const MODEL = 'm'
const OF_CHANNEL = { channelId: 2, model: null, keyRef: null }
const OF_MODEL = { channelId: 2, model: MODEL, keyRef: null }

function selectorWith(maxConcurrency: number) {
  const breaker = {
    enter: vi.fn(async () => [OF_CHANNEL]),
    release: vi.fn(),
    isAvoided: () => false,
  }
  const limits = { enter: async () => ({ full: { kind: 'permits' }, waitMs: 1_000 }) }
  const terms = { ...PLAIN_CHANNEL_TERMS, models: [MODEL], maxConcurrency }
  const channel = { channelId: 2, isEnabled: true, terms, keys: [] } as unknown as RelayChannel
  const deps = { breaker, limits, now: Date.now } as never
  return { breaker, selector: new ChannelSelector(deps, offerOf([channel]), MODEL, false) }
}

it('a full channel is not probed', async () => {
  const { breaker, selector } = selectorWith(1)
  expect(await selector.next()).toBeNull()
  expect(breaker.enter).not.toHaveBeenCalled()
})

it('the probe of an attempt that was not made is given back, and no other', async () => {
  const unused = selectorWith(0)
  expect(await unused.selector.next()).not.toBeNull()
  unused.selector.end(true)
  unused.selector.end(true)
  expect(unused.breaker.release.mock.calls).toEqual([[[OF_CHANNEL]]])
  const used = selectorWith(0)
  expect(await used.selector.next()).not.toBeNull()
  used.selector.end(false)
  used.selector.end(true)
  expect(used.breaker.release).not.toHaveBeenCalled()
  expect(used.selector.probes).toEqual([OF_CHANNEL])
})

function breakerWithCommands() {
  const commands: { readonly type: string; readonly scope: unknown }[] = []
  const handle = async (_decider: unknown, _stream: string, command: (typeof commands)[0]) => {
    commands.push({ type: command.type, scope: command.scope })
    // The channel's circuit is half-opened, and another process probes the model's circuit.
    const isGranted = command.type === 'ProbeCircuit' && command.scope === OF_CHANNEL
    const data = { ...OF_CHANNEL, prober: 'a', until: 1 }
    const event = { type: 'CircuitHalfOpened', v: 1, data, position: 1 }
    return { isDone: true, events: isGranted ? [event] : [] }
  }
  const rows = [OF_CHANNEL, OF_MODEL].map((scope) => ({ scope, until: 0, position: 0 }))
  const circuits = new OpenCircuitView(rows)
  const deps = { actors: { handle }, circuits, now: () => 1_000_000, log: { warn: vi.fn() } }
  return { commands, breaker: new CircuitBreaker(deps as never) }
}

it('a channel’s probe is given back if its model may not be probed', async () => {
  const { commands, breaker } = breakerWithCommands()
  expect(await breaker.enter(2, MODEL)).toBe(false)
  await expect
    .poll(() => commands)
    .toEqual([
      { type: 'ProbeCircuit', scope: OF_CHANNEL },
      { type: 'ProbeCircuit', scope: OF_MODEL },
      { type: 'ReleaseProbe', scope: OF_CHANNEL },
    ])
})

it('the probe of an attempt that tells nothing about the provider is given back', async () => {
  const { commands, breaker } = breakerWithCommands()
  const channel = { channelId: 2, keys: [] } as unknown as RelayChannel
  const attempt = { channel, keyRef: 'k', model: MODEL, probes: [OF_CHANNEL], call: 'c' }
  const body = Buffer.alloc(0)
  const end = { kind: 'failed', status: null, error: 'caller-gone', body, retryAfterMs: 0 } as const
  breaker.note(attempt, end)
  await expect.poll(() => commands).toEqual([{ type: 'ReleaseProbe', scope: OF_CHANNEL }])
})
