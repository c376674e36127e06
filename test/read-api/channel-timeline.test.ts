import { describe, expect, it } from 'vitest'
import type { ChannelTimeline } from '#read-api/contract/channel-timeline.ts'
import { channelChanged, channelCreated, type Given, NOW } from '#test/projections/fixture.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture } from './fixture.ts'

const api = startedForEach(apiFixture)

const MINUTE = 60_000
/** Minutes after the fixture's now. */
const at = (minutes: number, given: Given): Given => ({ ...given, at: NOW + minutes * MINUTE })
const seconds = (minutes: number): number => Math.floor((NOW + minutes * MINUTE) / 1_000)

const circuit = (type: string, data: object): Given => ({
  stream: 'channel-health-7',
  type,
  v: 1,
  data: { channelId: 7, model: null, keyRef: null, ...data },
})
const opened = circuit('CircuitOpened', {
  reason: 'connect',
  failures: 5,
  round: 1,
  until: NOW + 30_000,
})
const closed = circuit('CircuitClosed', { reason: 'probe' })
const several = (type: string): Given => ({
  stream: 'channels',
  type,
  v: 1,
  data: { channelIds: [7], tag: null },
})

async function given(...facts: Given[]): Promise<void> {
  for (const fact of facts) await api.settled(await api.append([fact]))
}

async function ask(query: string, userId = ADMIN) {
  const path = `/api/channel/7/timeline${query}`
  return api.get<ChannelTimeline>(path, await api.logIn(userId))
}

async function stateAt(minutes: number) {
  const { body } = await ask(`?at=${seconds(minutes)}`)
  const { state, because } = body.data.state_at ?? {}
  return [state, because?.kind ?? null]
}

describe('GET /api/channel/{id}/timeline', () => {
  it('is for admins, and answers 404 for a channel that never existed', async () => {
    expect((await api.get('/api/channel/7/timeline')).status).toBe(401)
    expect((await ask('', ALICE)).status).toBe(403)
    expect((await ask('')).status).toBe(404)
    expect((await ask('?at=soon')).status).toBe(400)
  })

  it('returns the channel’s state at a given moment and the event that caused it', async () => {
    await given(
      at(0, channelCreated(7, 'seven')),
      at(10, opened),
      at(12, closed),
      at(20, several('ChannelsDisabled')),
      at(30, several('ChannelsEnabled')),
      at(40, channelChanged(7, 'ChannelAutoDisabled', { reason: 'invalid_api_key' })),
    )
    expect(await stateAt(-1)).toEqual(['none', null])
    expect(await stateAt(5)).toEqual(['on', 'created'])
    expect(await stateAt(11)).toEqual(['circuit-open', 'circuit-opened'])
    expect(await stateAt(15)).toEqual(['on', 'created'])
    expect(await stateAt(25)).toEqual(['off', 'disabled'])
    expect(await stateAt(35)).toEqual(['on', 'enabled'])
    for (const nothing of [`?to=${seconds(-9)}`, `?from=${seconds(9)}&to=${seconds(8)}`]) {
      expect(await ask(nothing)).toMatchObject({ status: 200, body: { data: { items: [] } } })
    }
    const { body } = await ask(`?at=${seconds(45)}`)
    expect(body.data.state_at).toMatchObject({
      state: 'auto-off',
      because: { kind: 'auto-disabled', reason: 'invalid_api_key', by: { id: 1, name: 'root' } },
    })
  })

  it('names the key of an entry by its index, never by its reference', async () => {
    const ofKey = (key: string) => ({
      ...opened,
      data: { ...(opened.data as object), keyRef: key },
    })
    const aside = { keyRef: 'channel-key-7', reason: 'status-401' }
    await given(
      at(0, channelCreated(7, 'seven')),
      at(1, ofKey('channel-key-7')),
      at(2, ofKey('gone')),
      at(3, channelChanged(7, 'ChannelKeySetAside', aside)),
    )
    const { body } = await ask('')
    expect(body.data.items.map(({ key }) => key)).toEqual([0, null, 0, undefined])
    expect(JSON.stringify(body)).not.toContain('channel-key-7')
    expect(await stateAt(2)).toEqual(['partly-open', 'circuit-opened'])
  })

  it('lists events newest first, with the fields that changed', async () => {
    const created = channelCreated(7, 'seven')
    const { terms } = created.data as { terms: Record<string, unknown> }
    await given(
      at(0, created),
      at(1, {
        stream: 'channels',
        type: 'ChannelTermsChanged',
        v: 1,
        data: {
          channelId: 7,
          terms: { ...terms, name: 'seven', priority: 9, setting: '{"proxy":"http://p:1"}' },
          keyRefs: ['channel-key-7'],
          keyMode: '',
          droppedKeyRefs: [],
        },
      }),
      at(2, opened),
    )
    const { body } = await ask('?page_size=2')
    expect(body.data).toMatchObject({ page: 0, total: 3, state_at: null })
    expect(body.data.items.map(({ kind }) => kind)).toEqual(['circuit-opened', 'terms-changed'])
    expect(body.data.items[0]).toMatchObject({ reason: 'connect', count: 5, model: null })
    expect(body.data.items[1]?.fields).toEqual(['priority', 'setting'])
    expect(JSON.stringify(body)).not.toContain('http://p:1')
    const older = await ask('?page_size=2&p=1')
    expect(older.body.data.items.map(({ kind }) => kind)).toEqual(['created'])
    const within = await ask(`?from=${seconds(1)}&to=${seconds(1)}`)
    expect(within.body.data.items.map(({ kind }) => kind)).toEqual(['terms-changed'])
  })

  it('lists each expiry of the channel as an entry, on the right page', async () => {
    Object.assign(api.core, { now: () => NOW + 120 * MINUTE })
    const { terms } = channelCreated(7, 'seven').data as { terms: Record<string, unknown> }
    const ending = (minutes: number) => ({
      channelId: 7,
      terms: { ...terms, name: 'seven', expiredTime: seconds(minutes) },
      keyRefs: ['channel-key-7'],
      keyMode: '',
      droppedKeyRefs: [],
    })
    await given(
      at(0, channelCreated(7, 'seven', { expiredTime: seconds(10) })),
      at(20, channelChanged(7, 'ChannelTermsChanged', ending(60))),
      at(30, opened),
      at(31, closed),
      at(40, channelChanged(7, 'ChannelTermsChanged', ending(50))),
    )
    const whole = (await ask('')).body.data
    const kinds = ['expired', 'terms-changed', 'circuit-closed', 'circuit-opened', 'terms-changed']
    expect(whole.items.map(({ kind }) => kind)).toEqual([...kinds, 'expired', 'created'])
    expect(whole.total).toBe(7)
    expect(whole.items[0]).toMatchObject({ at: seconds(50) * 1_000, by: null })
    for (const size of [1, 2, 3, 5]) {
      const pages = Array.from({ length: Math.ceil(7 / size) + 1 }, (_, page) =>
        ask(`?page_size=${size}&p=${page}`),
      )
      const items = (await Promise.all(pages)).flatMap(({ body }) => body.data.items)
      expect(items).toEqual(whole.items)
    }
    expect(await stateAt(15)).toEqual(['expired', 'expired'])
    expect(await stateAt(25)).toEqual(['on', 'created'])
    await given(at(45, several('ChannelsDeleted')))
    expect((await ask('')).body.data.items.map(({ kind }) => kind)[0]).toBe('deleted')
  })
})
