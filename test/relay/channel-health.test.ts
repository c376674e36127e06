import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ChannelHealthEvent } from '#domain/channel-health/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { type SimulatedProvider, startSimulatedProvider } from '#infra/demo/simulated-provider.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, relayRig, serveRelay } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const rig = startedForEach(relayRig)
/** The provider behind channel 2, which is drawn before channel 1. */
const first = startedForEach(startSimulatedProvider)

beforeEach(async () => {
  await rig.setOption('RetryTimes', '1')
  await rig.setOption('channel_health.circuit_cooldown_seconds', '1')
  await rig.addChannel(2, { priority: 9, baseUrl: first.url })
})
const circuitEvents = async (channelId = 2) =>
  (await rig.core.store.readStream(`channel-health-${channelId}`)) as Recorded<ChannelHealthEvent>[]
const types = async (channelId = 2) => (await circuitEvents(channelId)).map(({ type }) => type)
const requestCount = (provider: SimulatedProvider) => provider.journal.count
const times = async (count: number, body: Record<string, unknown> = {}) => {
  for (let n = 0; n < count; n += 1) expect((await chat(rig, body)).status).toBe(200)
}
const untilDue = async (channelId = 2) => {
  const until = (await circuitEvents(channelId)).at(-1)?.data
  const at = until !== undefined && 'until' in until ? until.until : 0
  await expect.poll(() => Date.now() >= at).toBe(true)
}

const ANSWER = {
  choices: [{ index: 0, message: { content: 'Yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
}

async function openCircuit(): Promise<void> {
  first.script.push(...Array.from({ length: 5 }, () => ({ kind: 'status', status: 503 }) as const))
  await times(5)
  await expect.poll(() => types()).toEqual(['CircuitOpened'])
}

describe('the circuit of a failing channel', () => {
  it('the circuit opens after five consecutive failures and not after four', async () => {
    first.script.push(
      ...Array.from({ length: 4 }, () => ({ kind: 'status', status: 503 }) as const),
    )
    await times(5)
    expect(await types()).toEqual([])
    await openCircuit()
    const countBefore = requestCount(first)
    await times(3)
    expect(requestCount(first)).toBe(countBefore)
    expect((await circuitEvents())[0]?.data).toMatchObject({
      channelId: 2,
      model: null,
      reason: 'status-503',
      failures: 5,
      round: 1,
    })
  })

  it('a channel gets one of fifty calls after its pause, and all if that succeeds', async () => {
    const provider = await scriptedProvider()
    onTestFinished(provider.close)
    provider.answers.set('*', { status: 503 })
    await rig.addChannel(3, { priority: 99, baseUrl: provider.url })
    await times(5)
    await expect.poll(() => types(3)).toEqual(['CircuitOpened'])
    await untilDue(3)
    const countBefore = provider.requests.length
    const others = Promise.withResolvers<void>()
    provider.answers.set('*', { until: others.promise, body: ANSWER })
    let ended = 0
    const calls = Array.from({ length: 50 }, async () => {
      const { status } = await chat(rig)
      ended += 1
      return status
    })
    // The provider answers the probe only after all other calls have ended.
    await expect.poll(() => ended).toBe(49)
    expect(provider.requests.length - countBefore).toBe(1)
    others.resolve()
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
    await expect
      .poll(() => types(3))
      .toEqual(['CircuitOpened', 'CircuitHalfOpened', 'CircuitClosed'])
    await times(3)
    expect(provider.requests.length - countBefore).toBe(4)
  })

  it('a failed probe lengthens the pause, and its call goes to another channel', async () => {
    await rig.setOption('RetryTimes', '0')
    await rig.setOption('channel_health.circuit_failures', '1')
    first.script.push({ kind: 'status', status: 500 }, { kind: 'status', status: 500 })
    expect((await chat(rig)).status).toBe(500)
    await expect.poll(() => types()).toEqual(['CircuitOpened'])
    await untilDue()
    expect((await chat(rig)).status).toBe(200)
    await expect
      .poll(() => types())
      .toEqual(['CircuitOpened', 'CircuitHalfOpened', 'CircuitOpened'])
    const [opened, , again] = await circuitEvents()
    const pause = ({ data, meta }: Recorded<ChannelHealthEvent>) =>
      ('until' in data ? data.until : 0) - meta.at
    if (opened === undefined || again === undefined) throw new Error('missing')
    expect(pause(opened)).toBeLessThan(1_250)
    expect(pause(again)).toBeGreaterThanOrEqual(2_000)
  })

  it('the circuit opens when the provider dies and closes once it is back', async () => {
    const { port } = first
    await first.close()
    await times(5)
    await expect.poll(() => types()).toEqual(['CircuitOpened'])
    expect((await circuitEvents())[0]?.data).toMatchObject({ reason: 'connect' })
    const again = await startSimulatedProvider({ port })
    onTestFinished(again.close)
    await times(1)
    expect(requestCount(again)).toBe(0)
    await untilDue()
    await times(3)
    await expect.poll(async () => (await types()).at(-1)).toBe('CircuitClosed')
    expect(requestCount(again)).toBeGreaterThan(0)
  })

  it('the channel gets calls at once in every relay when an admin closes its circuit', async () => {
    await rig.setOption('channel_health.circuit_cooldown_seconds', '600')
    first.script.push(
      ...Array.from({ length: 5 }, () => ({ kind: 'status', status: 503 }) as const),
    )
    await times(5)
    await expect.poll(() => types()).toEqual(['CircuitOpened'])
    const countBefore = requestCount(first)
    await times(2)
    expect(requestCount(first)).toBe(countBefore)
    // As another process's management API writes it: this relay hears of it by the event alone.
    await rig.append('channel-health-2', {
      type: 'CircuitClosed',
      v: 1,
      data: { channelId: 2, model: null, keyRef: null, reason: 'admin' },
    })
    await expect
      .poll(async () => {
        await times(1)
        return requestCount(first)
      })
      .toBeGreaterThan(countBefore)
    const well = requestCount(first)
    await times(3)
    expect(requestCount(first)).toBe(well + 3)
  })

  it('the channel still gets calls if no other channel offers the model', async () => {
    await rig.append('channels', {
      type: 'ChannelsDisabled',
      v: 1,
      data: { channelIds: [1], tag: null },
    })
    first.script.push(
      ...Array.from({ length: 5 }, () => ({ kind: 'status', status: 503 }) as const),
    )
    for (let n = 0; n < 5; n += 1) expect((await chat(rig)).status).toBe(503)
    await expect.poll(() => types()).toEqual(['CircuitOpened'])
    await times(2)
  })

  it('a retry uses the channel last, after all healthy channels have failed', async () => {
    await openCircuit()
    rig.provider.script.push({ kind: 'status', status: 503 })
    const countBefore = [requestCount(first), requestCount(rig.provider)]
    expect((await chat(rig)).status).toBe(200)
    expect([requestCount(first), requestCount(rig.provider)]).toEqual(
      countBefore.map((count) => count + 1),
    )
  })

  it('a call tries the channel once, and never if it has no retry left', async () => {
    await openCircuit()
    await rig.setOption('RetryTimes', '0')
    rig.provider.script.push({ kind: 'status', status: 503 })
    const countBefore = requestCount(first)
    expect((await chat(rig)).status).toBe(503)
    expect(requestCount(first)).toBe(countBefore)
    await rig.setOption('RetryTimes', '3')
    rig.provider.script.push({ kind: 'status', status: 503 })
    first.script.push({ kind: 'status', status: 503 })
    expect((await chat(rig)).status).toBe(503)
    expect(requestCount(first)).toBe(countBefore + 1)
  })

  it('the channel keeps its other models when only one of them fails', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.setOption('ModelRatio', { 'sim-small': 1, 'sim-large': 1 })
    const both = { models: ['sim-small', 'sim-large'] }
    await rig.addChannel(3, { ...both, priority: 9, baseUrl: first.url })
    first.script.push(
      ...Array.from({ length: 5 }, () => ({ kind: 'status', status: 500 }) as const),
    )
    await times(5)
    await expect.poll(() => types(3)).toEqual(['CircuitOpened'])
    expect((await circuitEvents(3))[0]?.data.model).toBe('sim-small')
    const countBefore = requestCount(first)
    await times(2)
    expect(requestCount(first)).toBe(countBefore)
    await times(2, { model: 'sim-large' })
    expect(requestCount(first)).toBe(countBefore + 2)
  })

  it('the circuit stays closed for errors that callers cause', async () => {
    for (const status of [400, 403, 413, 422]) {
      first.script.push(...Array.from({ length: 6 }, () => ({ kind: 'status', status }) as const))
      for (let n = 0; n < 6; n += 1) await chat(rig)
    }
    expect(await types()).toEqual([])
  })

  it('the channel gets no calls until its Retry-After has passed', async () => {
    first.script.push({ kind: 'status', status: 429, retryAfter: '20' })
    await times(3)
    expect(requestCount(first)).toBe(1)
    expect(await types()).toEqual([])
  })
})

describe('two relays', () => {
  it('two relays share their circuits and let one probe of both through', async () => {
    const other = await serveRelay(rig.core)
    const { url } = other
    try {
      await openCircuit()
      const countBefore = requestCount(first)
      await expect
        .poll(async () => {
          const before = requestCount(first)
          await chat({ url })
          return requestCount(first) - before
        })
        .toBe(0)
      await untilDue()
      const before = requestCount(first)
      expect(before - countBefore).toBeLessThan(3)
      first.script.push({ kind: 'slow', msPerChunk: 300 })
      const body = { stream: true, max_tokens: 5 }
      const calls = Array.from({ length: 40 }, (_, n) => chat(n % 2 === 0 ? rig : { url }, body))
      for (const { status } of await Promise.all(calls)) expect(status).toBe(200)
      expect(requestCount(first) - before).toBe(1)
      expect((await types()).filter((type) => type === 'CircuitHalfOpened')).toHaveLength(1)
    } finally {
      await other.close()
    }
  })
})
