import { beforeAll, describe, expect, it } from 'vitest'
import type { Channel, ChannelEntry, TagGroup } from '#read-api/contract/channels.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import {
  aCall,
  admitted,
  channelChanged,
  channelCreated,
  type Given,
  NOW,
  settledCall,
} from '../projections/fixture.ts'
import { ADMIN, ALICE, apiFixture } from './fixture.ts'

const api = startedOnce(apiFixture)
let admin: Record<string, string>
const EXPIRED = NOW / 1_000 - 60

const tested = (channelId: number, durationMs: number): Given => ({
  stream: `channel-checks-${channelId}`,
  type: 'ChannelTested',
  v: 1,
  data: { channelId, model: 'm', isSuccess: true, durationMs, reason: '', usage: null, run: null },
})

const spent = (channelId: number, charge: number): Given[] => {
  const call = aCall()
  return [admitted(call), settledCall(call, charge, NOW, channelId)]
}

const keysOf = (channelId: number, keyRefs: readonly string[]): Given => {
  const [key] = [channelCreated(channelId, 'many keys', { models: ['m-keys'], type: 14 })]
  const data = { ...key.data, keyMode: 'polling', channels: [{ channelId, name: 'k', keyRefs }] }
  return { ...key, data }
}

beforeAll(async () => {
  admin = await api.logIn(ADMIN)
  await api.settled(
    await api.append([
      channelCreated(1, 'Alpha', { tag: 'eu', groups: ['default', 'vip'], priority: 5 }),
      channelCreated(2, 'beta', { tag: 'eu', groups: ['inner'], priority: 5, weight: 2 }),
      channelCreated(3, 'Gamma', { expiredTime: EXPIRED, models: ['m-old'], weight: 9 }),
      channelCreated(4, 'delta', { tag: 'us', models: ['m-us'], modelPrefix: 'us/', priority: 9 }),
      channelCreated(5, 'Epsilon', { baseUrl: 'https://eps.example.com', type: 14 }),
      keysOf(6, ['a', 'b', 'c']),
      channelChanged(6, 'ChannelKeySetAside', { keyRef: 'c', reason: 'status-401' }),
      channelChanged(6, 'ChannelKeySetAside', { keyRef: 'a', reason: 'status-402' }),
      channelChanged(6, 'ChannelKeysTakenBack', { keyRefs: ['a'] }),
      channelChanged(5, 'ChannelsDisabled'),
      channelChanged(4, 'ChannelAutoDisabled', { reason: 'status-401' }),
      ...spent(1, 700),
      ...spent(2, 300),
      ...spent(5, 900),
      ...[tested(1, 1_000), tested(2, 2_000), tested(4, 500)],
    ]),
  )
})

type Page<T = Channel> = { items: T[]; page: number; total: number }
const page = async <T = Channel>(query: string): Promise<Page<T>> =>
  (await api.get<Page<T>>(`/api/channel/${query}`, admin)).body.data
const idsOf = async (query: string): Promise<number[]> =>
  (await page(query)).items.map(({ id }) => id)
const isTag = (entry: ChannelEntry): entry is TagGroup => 'children' in entry

describe('the list of channels', () => {
  it.each([
    ['id', [1, 2, 3, 4, 5, 6]],
    ['name', [1, 2, 4, 5, 3, 6]],
    ['type', [4, 3, 2, 1, 6, 5]],
    ['status', [6, 2, 1, 5, 4, 3]],
    ['group', [6, 5, 4, 3, 1, 2]],
    ['tag', [6, 5, 3, 2, 1, 4]],
    ['models', [6, 4, 3, 5, 2, 1]],
    ['priority', [6, 5, 3, 2, 1, 4]],
    ['weight', [6, 5, 4, 1, 2, 3]],
    ['used_quota', [6, 4, 3, 2, 1, 5]],
    ['response_time', [6, 5, 3, 4, 1, 2]],
    ['balance', [6, 5, 4, 3, 2, 1]],
    ['test_time', [6, 5, 3, 4, 2, 1]],
    ['created_time', [6, 5, 4, 3, 2, 1]],
    ['expired_time', [3, 6, 5, 4, 2, 1]],
  ])('is sorted by %s, and lists the newest first among equal rows', async (sort, ids) => {
    expect(await idsOf(`?sort=${sort}&order=asc`)).toEqual(ids)
    const { items, total } = await page(`?sort=${sort}&order=desc&page_size=2&p=1`)
    expect([items.length, total]).toEqual([2, 6])
  })

  it('accepts only known sort columns and orders', async () => {
    for (const query of ['sort=key', 'sort=id;drop', 'order=up']) {
      expect((await api.get(`/api/channel/?${query}`, admin)).status, query).toBe(400)
    }
  })

  it.each([
    ['?status=1', [6, 2, 1]],
    ['?status=2', [5]],
    ['?status=3', [4, 3]],
    ['?status=0', [5, 4, 3]],
    ['?type=14', [6, 5]],
    ['search?keyword=eps', [5]],
    ['search?keyword=EPSILON', [5]],
    ['search?keyword=%25', []],
    ['search?keyword=4', [4]],
    ['search?keyword=EU', [2, 1]],
    ['search?group=vip', [1]],
    ['search?group=vi', []],
    ['search?model=M-u', [4]],
    ['search?model=m-us&group=vip', []],
  ])('%s returns the channels that match its filter', async (query, ids) => {
    expect(await idsOf(`${query}${query.includes('?') ? '&' : '?'}id_sort=true`)).toEqual(ids)
  })

  it('shows a channel’s used quota, response time, key count and set-aside keys', async () => {
    const { items } = await page('?id_sort=true')
    const [keys, , , , , first] = items
    expect(first).toMatchObject({ id: 1, used_quota: 700, response_time: 1_000, key_count: 1 })
    expect(first).toMatchObject({ multi_key_mode: '', keys_set_aside: [], key: '' })
    expect(keys).toMatchObject({ multi_key_mode: 'polling', key_count: 3 })
    expect(keys?.keys_set_aside).toEqual([
      { index: 2, reason: 'status-401', time: Math.floor(NOW / 1_000) },
    ])
  })

  it('shows a channel as disabled since its expiry, though no event disabled it', async () => {
    const [channel] = (await page('search?keyword=Gamma')).items
    expect(channel).toMatchObject({ status: 3, expired_time: EXPIRED })
    expect(JSON.parse(channel?.other_info ?? '')).toEqual({
      status_reason: 'expired',
      status_time: EXPIRED,
    })
  })

  it('omits the models of disabled and expired channels from the callable models', async () => {
    const enabled = await api.get<string[]>('/api/channel/models_enabled', admin)
    expect(enabled.body.data).toEqual(['m-keys', 'sim-large', 'sim-small'])
    expect((await api.get('/api/channel/models_enabled', await api.logIn(ALICE))).status).toBe(403)
  })
})

describe('the list of channels by tag', () => {
  it('merges a tag into one row: sums quota, averages time, blanks differing fields', async () => {
    const { items, total } = await page<ChannelEntry>('?tag_mode=true')
    expect(total).toBe(5)
    const [eu] = items.filter(isTag).filter(({ tag }) => tag === 'eu')
    expect(eu).toMatchObject({
      ...{ tag: 'eu', used_quota: 1_000, response_time: 1_500 },
      ...{ priority: 5, weight: null },
    })
    expect(eu?.group.split(',').sort()).toEqual(['default', 'inner', 'vip'])
    expect(eu?.children.map(({ id }) => id)).toEqual([2, 1])
    const us = items.filter(isTag).find(({ tag }) => tag === 'us')
    expect(us).toMatchObject({ priority: 9, weight: 0, response_time: 500 })
    expect(items.flatMap((item) => (isTag(item) ? [] : [item.id])).sort()).toEqual([3, 5, 6])
  })

  it('keeps the channels of a tag on one page, and lists each channel once', async () => {
    const pages = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((p) => page<ChannelEntry>(`?tag_mode=true&page_size=1&p=${p}`)),
    )
    const seen = pages.map(({ items }) =>
      items.flatMap((item) => (isTag(item) ? item.children : [item])).map(({ id }) => id),
    )
    expect(seen).toEqual([[4], [2, 1], [6], [5], [3], []])
    expect(pages.every(({ total }) => total === 5)).toBe(true)
  })

  it('omits a tag’s channels with children=false, and lists them with ?tag', async () => {
    const { items, total } = await page<ChannelEntry>('?tag_mode=true&children=false')
    const [whole] = (await page<ChannelEntry>('?tag_mode=true')).items.filter(isTag)
    const tags = items.filter(isTag)
    expect(total).toBe(5)
    expect(tags.map(({ children }) => children)).toEqual([[], []])
    expect(tags[0]).toEqual({ ...whole, children: [] })
    expect(tags.find(({ tag }) => tag === 'eu')?.members).toEqual([
      { id: 2, name: 'beta', status: 1 },
      { id: 1, name: 'Alpha', status: 1 },
    ])
    expect(await idsOf('?tag=eu&sort=id&order=asc')).toEqual([1, 2])
    expect(await idsOf('?tag=e')).toEqual([])
  })

  it('returns the whole tag if one of its channels matches', async () => {
    const { items, total } = await page<ChannelEntry>('search?tag_mode=true&group=vip')
    expect(total).toBe(1)
    expect(items.filter(isTag)[0]?.children).toHaveLength(2)
  })

  it('sorts tags by the sum of used quota, or otherwise by their first channel', async () => {
    const first = async (query: string) => {
      const [item] = (await page<ChannelEntry>(`?tag_mode=true&${query}`)).items
      return item === undefined || isTag(item) ? item?.tag : item.id
    }
    expect(await first('sort=used_quota&order=desc')).toBe('eu')
    expect(await first('sort=used_quota&order=asc')).toBe(6)
    expect(await first('sort=name&order=asc')).toBe('eu')
    expect(await first('id_sort=true')).toBe(6)
  })
})
