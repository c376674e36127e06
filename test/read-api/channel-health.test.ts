import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createGauges } from '#infra/telemetry/gauges-of-all-processes.ts'
import type { HealthPush, HealthSnapshot } from '#read-api/contract/channel-health.ts'
import {
  aCall,
  admitted,
  channelCreated,
  type Given,
  NOW,
  releasedCall,
  settledCall,
} from '#test/projections/fixture.ts'
import { ADMIN, ALICE, type Api, apiFixture, ROOT } from './fixture.ts'

let api: Api
const sockets: WebSocket[] = []

beforeEach(async () => {
  api = await apiFixture()
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate()
  await api.close()
})

const PATH = '/api/channel/health'
const circuitOpened = (channelId: number): Given => ({
  stream: `channel-health-${channelId}`,
  type: 'CircuitOpened',
  v: 1,
  data: {
    channelId,
    model: null,
    keyRef: null,
    reason: 'connect',
    failures: 5,
    round: 1,
    until: NOW + 30_000,
  },
})

async function given(...facts: Given[]): Promise<void> {
  await api.settled(await api.append(facts))
}

describe('GET /api/channel/health', () => {
  it('is for admins', async () => {
    expect((await api.get(PATH)).status).toBe(401)
    expect((await api.get(PATH, await api.logIn(ALICE))).status).toBe(403)
    for (const user of [ADMIN, ROOT]) {
      expect((await api.get(PATH, await api.logIn(user))).status).toBe(200)
    }
  })

  it('returns figures, circuits and calls in flight, and null for unknown figures', async () => {
    const [call, other] = [aCall({ isStream: true }), aCall()]
    await given(
      channelCreated(1, 'busy'),
      channelCreated(2, 'idle'),
      channelCreated(3, 'the only one of its group', { groups: ['vip'] }),
      admitted(call),
      settledCall(call, 10),
      admitted(other),
      releasedCall(other),
      circuitOpened(1),
    )
    const gauges = await createGauges(api.core.pg)
    await gauges.report('calls-in-flight', { '1': 3 })
    const { body } = await api.get<HealthSnapshot>(PATH, await api.logIn(ADMIN))
    const [busy, idle] = body.data.channels
    expect(busy).toMatchObject({
      id: 1,
      name: 'busy',
      status: 1,
      in_flight: 3,
      balance: null,
      circuits: [{ model: null, state: 'open', reason: 'connect', until: NOW + 30_000 }],
      figures: { m5: { successes: 1 }, h1: { successes: 1 }, d1: { successes: 1 } },
    })
    expect(busy?.figures.m5?.latency_ms?.p50).toBeGreaterThan(0)
    expect(busy?.minutes).toHaveLength(1)
    expect(busy?.models.find(({ model }) => model === 'sim-large')?.figures.m5).toBeNull()
    expect(idle).toMatchObject({
      id: 2,
      in_flight: 0,
      figures: { m5: null, h1: null, d1: null },
      minutes: [],
    })
    expect(body.data.channels.map(({ is_last }) => is_last)).toEqual([false, false, true])
  })

  it('returns null calls in flight while no relay runs', async () => {
    await given(channelCreated(1, 'one'))
    const { body } = await api.get<HealthSnapshot>(PATH, await api.logIn(ADMIN))
    expect(body.data.channels[0]?.in_flight).toBeNull()
  })
})

describe('health on the live socket', () => {
  async function listen(userId: number): Promise<HealthPush[]> {
    const { port } = api.app.server.address() as AddressInfo
    const host = `127.0.0.1:${port}`
    const headers = { ...(await api.logIn(userId)), origin: `http://${host}` }
    const socket = new WebSocket(`ws://${host}/api/live`, { headers })
    sockets.push(socket)
    const pushed: HealthPush[] = []
    let isReady = false
    socket.on('message', (bytes) => {
      const message = JSON.parse(String(bytes)) as { type: string; data?: HealthPush }
      if (message.type === 'ready') isReady = true
      if (message.data?.kind === 'health') pushed.push(message.data)
    })
    await once(socket, 'open')
    socket.send(JSON.stringify({ type: 'subscribe', topics: ['channels', 'logs'] }))
    await expect.poll(() => isReady).toBe(true)
    return pushed
  }

  it('is sent only to admins, and contains only channels that changed', async () => {
    await api.app.listen({ port: 0, host: '127.0.0.1' })
    await given(channelCreated(1, 'one'), channelCreated(2, 'two'))
    const [admins, users] = await Promise.all([listen(ADMIN), listen(ALICE)])
    await expect.poll(() => admins.length).toBe(1)
    expect(admins[0]?.channels.map(({ id }) => id)).toEqual([1, 2])
    await given(circuitOpened(2))
    await expect.poll(() => admins.length).toBe(2)
    expect(admins[1]?.channels.map(({ id, circuits }) => [id, circuits.length])).toEqual([[2, 1]])
    expect(users).toEqual([])
  })
})
