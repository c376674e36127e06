import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { defaultOf } from '#domain/options/option-registry.ts'
import { createEventStoreDbStore } from '#infra/event-store/eventstoredb/eventstoredb-store.ts'
import { createMemoryLocks } from '#infra/event-store/eventstoredb/locks.ts'
import type { EventPage, PricesAsOf, StateAsOf } from '#read-api/contract/time-travel.ts'
import {
  channelChanged,
  channelCreated,
  deducted,
  type Given,
  granted,
  NOW,
  tokenCreated,
  tokenRenamed,
  tokensDeleted,
} from '#test/projections/fixture.ts'
import { startEventStoreDbServer } from '#test/support/event-store-db/server.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, BOB } from './fixture.ts'

const api = startedOnce(apiFixture)
const optionSet = (key: string, value: string, at: number): Given => {
  const data = { key, value, before: '' }
  return { stream: 'options', type: 'OptionSet', v: 2, data, at }
}
const SECRET_SET: Given = {
  ...{ stream: 'options', type: 'SecretOptionSet', v: 2, at: NOW },
  data: { key: 'SMTPToken', secretRef: 'ref-1', before: null },
}
const at = (given: Given, time: number): Given => ({ ...given, at: time })
const MINUTE = 60_000
let first = 0

beforeAll(async () => {
  const setting = '{"proxy":"http://user:password-1@proxy.example.com:3128"}'
  const events = [
    at(channelCreated(1, 'before', { setting, priority: 3 }), NOW),
    optionSet('ModelRatio', '{"m":1.5}', NOW),
    SECRET_SET,
    at(tokenCreated(7, ALICE, 'my token'), NOW),
    at(tokenRenamed(7, ALICE, 'renamed'), NOW + MINUTE),
    optionSet('ModelRatio', '{"m":2}', NOW + MINUTE),
    at(channelChanged(1, 'ChannelsDisabled'), NOW + MINUTE),
    at(channelChanged(1, 'ChannelsDeleted'), NOW + 2 * MINUTE),
    at(tokensDeleted(ALICE, [7]), NOW + 2 * MINUTE),
    at(granted(ALICE, 50), NOW + 3 * MINUTE),
    at(deducted(ALICE, 20), NOW + 4 * MINUTE),
    at(granted(BOB, 9), NOW + 5 * MINUTE),
  ]
  let position = 0
  // An append orders its events by stream.
  for (const event of events) position = await api.append([event])
  first = position - 11
  await api.settled(position)
})

const get = async <T>(path: string, who = ADMIN) => {
  const { status, body } = await api.get<T>(`/api/audit/${path}`, await api.logIn(who))
  return { status, body, data: body.data }
}
const iso = (time: number) => encodeURIComponent(new Date(time).toISOString())

describe('the state of an object as of a moment', () => {
  it('is the fold of its events up to a position or a time', async () => {
    const states = [
      await get<StateAsOf>(`state/token/7?at=${first + 3}`),
      await get<StateAsOf>(`state/token/7?at=${iso(NOW + MINUTE)}`),
      await get<StateAsOf>('state/token/7'),
    ]
    expect(states.map(({ data }) => data.state?.name ?? null)).toEqual([
      'my token',
      'renamed',
      null,
    ])
    expect(states.map(({ data }) => data.is_deleted)).toEqual([false, false, true])
    expect(states[1]?.data.last_change).toMatchObject({
      ...{ position: first + 4, type: 'TokenTermsChanged' },
      created_at: (NOW + MINUTE) / 1_000,
      ...{ actor: 'user:1', actor_name: 'root' },
    })
  })

  it('of a channel, user and of the options has no secret, only whether it is set', async () => {
    const channel = await get<StateAsOf>(`state/channel/1?at=${iso(NOW)}`)
    expect(channel.data.state).toMatchObject({
      ...{ name: 'before', priority: 3, status: 'enabled', key: '***', key_count: 1 },
    })
    const disabled = await get<StateAsOf>(`state/channel/1?at=${first + 6}`)
    expect(disabled.data.state).toMatchObject({ status: 'disabled' })
    const user = await get<StateAsOf>(`state/user/${ALICE}`)
    expect(user.data.state).toMatchObject({ role: 1, group: 'default', is_deleted: false })
    const options = await get<StateAsOf>(`state/options/site?at=${first + 2}`)
    expect(options.data.state).toMatchObject({ ModelRatio: '{"m":1.5}', SMTPToken: '***' })
    const prices = await get<StateAsOf>('state/prices/site')
    expect(prices.data.state).toEqual({ ModelRatio: '{"m":2}' })
    // A first change of the option replaced the built-in prices.
    expect(prices.data.built_in).toEqual({ ModelRatio: defaultOf('ModelRatio') })
    expect(user.data).not.toHaveProperty('built_in')
    for (const { body } of [channel, disabled, user, options]) {
      expect(JSON.stringify(body)).not.toMatch(/password-1|channel-key-1|ref-1|hash/)
    }
  })

  it('names its members as the rest of the API does', async () => {
    const namesOf = (value: unknown): string[] =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value).flatMap(([name, member]) => [name, ...namesOf(member)])
        : []
    const moment = `at=${first + 3}`
    const [channel, token, user] = await Promise.all(
      [`channel/1?${moment}`, `token/7?${moment}`, `user/${ALICE}`].map(async (path) =>
        namesOf((await get<StateAsOf>(`state/${path}`)).data.state),
      ),
    )
    expect(channel).toEqual(expect.arrayContaining(['base_url', 'is_auto_ban', 'key_count']))
    expect(token).toEqual(expect.arrayContaining(['expires_at', 'rate_limit', 'period_seconds']))
    expect(user).toEqual(expect.arrayContaining(['display_name', 'show_ip_in_logs']))
    const names = [channel, token, user].flatMap((one) => one ?? [])
    expect(names.filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([])
  })

  it('is null before the object was created', async () => {
    const before = [`token/7?at=${first + 2}`, `channel/1?at=${first - 1}`, `user/${ALICE}?at=0`]
    for (const path of [...before, `user/${ALICE}?at=2020-01-01`]) {
      const { status, data } = await get<StateAsOf>(`state/${path}`)
      expect(status, path).toBe(200)
      expect(data, path).toMatchObject({ state: null, is_deleted: false, last_change: null })
    }
  })

  it('is unknown for ids that never existed', async () => {
    for (const path of ['channel/99', 'channel/99?at=1', 'user/99', 'token/99']) {
      expect((await get(`state/${path}`)).status).toBe(404)
    }
    expect((await get('state/channel/site')).status).toBe(404)
    expect((await get('state/options/7')).status).toBe(404)
  })

  it('names an invalid field', async () => {
    for (const text of [
      'yesterday',
      '2026-13-01',
      '-1',
      '2026-11-21T09:30',
      '1e3',
      '9'.repeat(16),
    ]) {
      const { status, body } = await get(`state/channel/1?at=${encodeURIComponent(text)}`)
      expect([status, body.code, body.message]).toEqual([
        400,
        'AtInvalid',
        expect.stringContaining('at'),
      ])
    }
    expect((await get('state/secrets/1')).status).toBe(400)
  })
})

describe('prices as of a moment', () => {
  it('are those that calls had, with the change that set them', async () => {
    const price = async (moment: string) =>
      (await get<PricesAsOf>(`prices?model=m&group=default&at=${moment}`)).data
    expect(await price(iso(NOW))).toMatchObject({
      position: first + 2,
      price: { mode: 'tokens', model: '1.5', group: '1' },
      in_force: expect.arrayContaining([
        expect.objectContaining({
          option: 'ModelRatio',
          name: 'm',
          value: '1.5',
          position: first + 1,
        }),
      ]),
    })
    expect((await price('')).price).toMatchObject({ model: '2' })
    expect(await price(String(first))).toMatchObject({ position: 0, at: 0, price: null })
  })
})

describe('stored events', () => {
  const list = async (query: string) => {
    const { status, data, body } = await get<EventPage>(`events?${query}`)
    expect(status, body.message).toBe(200)
    return data
  }

  it('are listed by stream, type, user and time, in order', async () => {
    const positions = async (query: string) =>
      (await list(query)).items.map((one) => one.position - first)
    expect(await positions('stream=channels')).toEqual([0, 6, 7])
    expect(await positions('type=OptionSet')).toEqual([1, 5])
    expect(await positions(`user_id=${ALICE}&after=${first}`)).toEqual([3, 4, 8, 9, 10])
    expect(await positions(`from=${iso(NOW + 3 * MINUTE)}`)).toEqual([9, 10, 11])
    const range = `from=${iso(NOW + MINUTE)}&to=${iso(NOW + 2 * MINUTE)}`
    expect(await positions(range)).toEqual([4, 5, 6, 7, 8])
    expect(await positions(`from=${first + 2}&to=${first + 3}`)).toEqual([2, 3])
    expect(await positions(`stream=account-${ALICE}&type=QuotaDeducted`)).toEqual([10])
  })

  it('are refused for a range that ends before it begins', async () => {
    for (const range of [
      `from=${first + 3}&to=${first + 2}`,
      `from=${iso(NOW + 2 * MINUTE)}&to=${iso(NOW + MINUTE)}`,
    ]) {
      const { status, body } = await get(`events?${range}`)
      expect([status, body.message]).toEqual([400, expect.stringContaining('from')])
    }
  })

  it('are paged by a cursor without gaps', async () => {
    const seen: number[] = []
    let cursor: string | null = String(first - 1)
    while (cursor !== null) {
      const page: EventPage = await list(`after=${cursor}&limit=5`)
      seen.push(...page.items.map(({ position }) => position - first))
      cursor = page.next_cursor
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('begin with the event at `from`, also where positions have gaps', async () => {
    const server = await startEventStoreDbServer()
    const { store: before, config, log } = api.core
    const locks = createMemoryLocks()
    const store = await createEventStoreDbStore({ url: server.url, locks, log })
    Object.assign(api.core, { store, config: { ...config, eventStore: { url: server.url } } })
    try {
      const appended: number[] = []
      for (const type of ['QuotaGranted', 'QuotaDeducted', 'QuotaGranted']) {
        const meta = { actor: 'user:1', cause: null, at: NOW }
        const event = { id: randomUUID(), type, v: 1, data: { userId: ALICE }, meta }
        const stream = `account-${ALICE}`
        appended.push((await store.append([{ stream, expected: 'any', events: [event] }])).position)
      }
      const [, second = 0, third = 0] = appended
      for (const filter of ['', `&stream=account-${ALICE}`, `&user_id=${ALICE}`]) {
        const { items } = await list(`from=${second}${filter}`)
        expect(items.map(({ position }) => position)).toEqual([second, third])
      }
      const paged = await list(`from=${second}&limit=1`)
      const { items } = await list(`from=${second}&after=${paged.next_cursor}`)
      expect(items.map(({ position }) => position)).toEqual([third])
      const afterGap = `after=${second + 1}`
      const streams = ['stream=account-', 'user_id='].map((name) => `${afterGap}&${name}${ALICE}`)
      for (const query of [`from=${second + 1}`, `from=${second - 1}`, ...streams]) {
        const { items: later } = await list(query)
        const expected = query === `from=${second - 1}` ? [second, third] : [third]
        expect(
          later.map(({ position }) => position),
          query,
        ).toEqual(expected)
      }
      // Without an index, pages of earlier events would have to be skipped first.
      for (const query of [afterGap, `${afterGap}&from=${second}`, `${afterGap}&type=X`]) {
        const { status, body } = await get(`events?${query}`)
        expect([status, body.message], query).toEqual([400, expect.stringContaining('after')])
      }
      expect(await list(`after=${third + 1}`)).toEqual({ items: [], next_cursor: null })
      expect(await list(`from=${third + 1}`)).toEqual({ items: [], next_cursor: null })
      const [first = 0] = appended
      const resumed = await list(`from=${second + 1}&after=${first}`)
      expect(resumed.items.map(({ position }) => position)).toEqual([third])
    } finally {
      Object.assign(api.core, { store: before, config })
      await store.close()
      await server.stop()
    }
  })

  it('are not for users', async () => {
    expect((await get('events', ALICE)).status).toBe(403)
    expect((await get('state/user/3', ALICE)).status).toBe(403)
  })
})
