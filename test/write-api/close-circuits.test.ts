import { beforeAll, describe, expect, it } from 'vitest'
import { channelHealthDecider } from '#domain/channel-health/decide.ts'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
let id: number

beforeAll(async () => {
  const body = { name: 'one', models: 'm', base_url: 'https://api.example.com', key: 'sk-a' }
  id = (await fixture.admin.call<{ id: number }>('POST', '/api/channel/', { body })).data.id
})

const close = (channelId: number | string) =>
  fixture.admin.call<number>('POST', `/api/channel/${channelId}/circuit/close`)
const eventsOf = (channelId: number) =>
  fixture.core.store.readStream(channelHealthStream(channelId))

async function openCircuit(model: string | null): Promise<void> {
  const at = Date.now()
  const command = {
    type: 'OpenCircuit',
    scope: { channelId: id, model, keyRef: null },
    cooldown: { baseMs: 60_000, maxMs: 60_000, jitter: 0, retryAfterMs: 0 },
    ...{ reason: 'connect', failures: 5, prober: null, at },
  } as const
  const context = { actor: 'system:relay', cause: null, at }
  await fixture.core.actors.handle(channelHealthDecider, channelHealthStream(id), command, context)
}

describe('closing circuits by hand', () => {
  it('closes all open circuits, answers how many, and records who closed them', async () => {
    await openCircuit(null)
    await openCircuit('m')
    const answer = await close(id)
    expect(answer).toMatchObject({ status: 200, success: true, data: 2 })
    expect(Number(answer.headers['x-position'])).toBeGreaterThan(0)
    const closed = (await eventsOf(id)).slice(-2)
    for (const { type, data, meta } of closed) {
      expect({ type, data, actor: meta.actor }).toMatchObject({
        type: 'CircuitClosed',
        data: { reason: 'admin' },
        actor: `user:${fixture.admin.id}`,
      })
    }
  })

  it('succeeds without a change for a channel that has no open circuit', async () => {
    const head = await fixture.head()
    expect(await close(id)).toMatchObject({ status: 200, success: true, data: 0 })
    expect(await fixture.head()).toBe(head)
  })

  it('refuses an unknown channel, an invalid id and a user who is no admin', async () => {
    expect(await close(999_999)).toMatchObject({ success: false, code: 'ChannelUnknown' })
    expect((await close('0')).status).toBe(400)
    const own = await fixture.user.call('POST', `/api/channel/${id}/circuit/close`)
    expect(own.status).toBe(403)
  })
})
