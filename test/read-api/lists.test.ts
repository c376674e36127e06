import { beforeAll, describe, expect, it } from 'vitest'
import type { Channel } from '#read-api/contract/channels.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import type { User } from '#read-api/contract/users.ts'
import {
  budgetSet,
  channelChanged,
  channelCreated,
  granted,
  tokenCreated,
} from '#test/projections/fixture.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { ADMIN, ALICE, apiFixture, BOB, ROOT } from './fixture.ts'

const api = startedOnce(apiFixture)
let admin: Record<string, string>
let alice: Record<string, string>

type List<T> = { items: T[]; page: number; total: number }

beforeAll(async () => {
  admin = await api.logIn(ADMIN)
  alice = await api.logIn(ALICE)
  await api.settled(
    await api.append([
      tokenCreated(1, ALICE, 'laptop'),
      budgetSet(1, ALICE, 500),
      tokenCreated(2, ALICE, '100%_sure'),
      tokenCreated(3, BOB, 'phone'),
      channelCreated(1, 'cheap', { priority: 1, tag: 'a', models: ['sim-small'] }),
      channelCreated(2, 'dear', { priority: 9, groups: ['inner'], models: ['sim-vip'] }),
      channelCreated(3, 'spare', { tag: 'a' }),
      channelCreated(4, 'gone'),
      channelChanged(3, 'ChannelAutoDisabled', { reason: 'status_401' }),
      channelChanged(4, 'ChannelsDeleted'),
      granted(ALICE, 77),
    ]),
  )
})

const LISTS = [
  '/api/user/',
  '/api/user/search',
  '/api/channel/',
  '/api/channel/search',
  '/api/token/',
  '/api/token/search',
  '/api/log/',
  '/api/log/self/',
]

describe('every list', () => {
  it.each(LISTS)('%s refuses invalid page numbers and sizes, and names the field', async (path) => {
    for (const query of [
      'p=-1',
      'p=x',
      'p=',
      'p=1.5',
      'page_size=0',
      'page_size=101',
      'size=abc',
    ]) {
      const { status, body } = await api.get(`${path}?${query}`, admin)
      expect([query, status, body.success]).toEqual([query, 400, false])
      expect(body.message).toContain(query.split('=')[0])
    }
    const { status, body } = await api.get<List<unknown>>(`${path}?p=999999999&size=100`, admin)
    expect([status, body.data.items]).toEqual([200, []])
  })

  it.each(LISTS)('%s requires a login, and is never cached', async (path) => {
    const { status, headers } = await api.get(path)
    expect(status).toBe(401)
    expect(headers['cache-control']).toContain('no-store')
    expect(headers.vary).toMatch(/cookie/i)
  })

  it.each([
    '/api/log/?type=9',
    '/api/log/?channel=abc',
    '/api/log/?failed_channel=abc',
    '/api/log/?start_timestamp=-5',
    '/api/log/stat?end_timestamp=1e9',
    '/api/log/self/stat?type=x',
    '/api/data/?start_timestamp=x',
    '/api/data/self/?start_timestamp=1&end_timestamp=1000000000',
    '/api/channel/?id_sort=1',
    '/api/user/0',
    '/api/channel/x',
    '/api/token/99999999999999999999',
    `/api/user/search?keyword=${'x'.repeat(201)}`,
    '/api/log/?p=0&p=1',
  ])('%s is refused with status 400', async (path) => {
    expect((await api.get(path, admin)).status).toBe(400)
  })
})

describe('tokens', () => {
  it('are listed with their keys for their owner, and are 404 for other users', async () => {
    const { body } = await api.get<List<Token>>('/api/token/?p=0&size=100', alice)
    expect(body.data.items.map(({ id, key }) => [id, key])).toEqual([
      [2, 'secret of token:2'],
      [1, 'secret of token:1'],
    ])
    expect(body.data.items[1]).toMatchObject({ remain_quota: 500, status: 1, expired_time: -1 })
    expect((await api.get('/api/token/3', alice)).status).toBe(404)
    expect((await api.get('/api/token/3', admin)).status).toBe(404)
    expect((await api.get('/api/token/77/', alice)).status).toBe(404)
    expect((await api.get<Token>('/api/token/1/', alice)).body.data.name).toBe('laptop')
  })

  it('are found by a literal part of their name in any case, or by their key', async () => {
    const found = async (query: string) =>
      (await api.get<List<Token>>(`/api/token/search?${query}`, alice)).body.data.items.map(
        ({ id }) => id,
      )
    expect(await found('keyword=TOP')).toEqual([1])
    expect(await found(`keyword=${encodeURIComponent('%')}`)).toEqual([2])
    expect(await found('token=sk-1')).toEqual([1])
    expect(await found('token=sk-3')).toEqual([])
  })
})

describe('models', () => {
  it('are callable if one of the user’s groups reaches them and they have a price', async () => {
    const callable = async () => (await api.get('/api/user/models', alice)).body.data
    expect(await callable()).toEqual([])
    const value = '{"sim-small":1,"sim-vip":1}'
    const data = { key: 'ModelRatio', value }
    await api.settled(await api.append([{ stream: 'options', type: 'OptionSet', v: 1, data }]))
    expect(await callable()).toEqual(['sim-small'])
    for (const [group, models] of Object.entries({ default: ['sim-small'], vip: [], none: [] })) {
      const { body } = await api.get(`/api/user/models?group=${group}`, alice)
      expect(body.data).toEqual(models)
    }
  })

  it('are not offered for chats if their channels only take tasks', async () => {
    const drawing = channelCreated(8, 'drawing', { type: 2, models: ['mj_imagine'] })
    await api.settled(await api.append([drawing]))
    const named = async (query: string) =>
      (await api.get<string[]>(`/api/user/models${query}`, alice)).body.data
    expect(await named('')).toContain('mj_imagine')
    expect(await named('?chat=true')).toEqual(['sim-small'])
    await api.settled(await api.append([channelChanged(8, 'ChannelsDeleted')]))
  })

  it('for chats begin with those that are named like models for chats', async () => {
    const channel = channelCreated(7, 'images', { type: 1, models: ['image-1', 'sim-small'] })
    const data = { key: 'ModelRatio', value: '{"sim-small":1,"image-1":1}' }
    await api.settled(
      await api.append([channel, { stream: 'options', type: 'OptionSet', v: 1, data }]),
    )
    const named = async (query: string) =>
      (await api.get<string[]>(`/api/user/models${query}`, alice)).body.data
    expect(await named('')).toEqual(['image-1', 'sim-small'])
    expect(await named('?chat=true')).toEqual(['sim-small', 'image-1'])
    await api.settled(await api.append([channelChanged(7, 'ChannelsDeleted')]))
  })

  it('for chats end with names that their channels map to videos', async () => {
    const terms = { type: 1, models: ['film', 'sim-small'] }
    const channel = channelCreated(77, 'films', { ...terms, modelMapping: '{"film":"sora-2"}' })
    const data = { key: 'ModelPrice', value: '{"film":1}' }
    await api.settled(
      await api.append([channel, { stream: 'options', type: 'OptionSet', v: 1, data }]),
    )
    const named = async (query: string) =>
      (await api.get<string[]>(`/api/user/models${query}`, alice)).body.data
    expect(await named('')).toEqual(['film', 'sim-small'])
    expect(await named('?chat=true')).toEqual(['sim-small', 'film'])
    // A channel for chats in a group that the caller can't use neither counts nor shows.
    const hidden = channelCreated(78, 'hidden', { type: 1, models: ['film'], groups: ['inner'] })
    await api.settled(await api.append([hidden]))
    expect(await named('?chat=true')).toEqual(['sim-small', 'film'])
    const inVip = channelCreated(79, 'vip', { type: 1, models: ['film'], groups: ['vip'] })
    const groups = { key: 'UserUsableGroups', value: '{"default":"","vip":""}' }
    const option = { stream: 'options', type: 'OptionSet', v: 1, data: groups }
    await api.settled(await api.append([inVip, option]))
    expect(await named('?chat=true')).toEqual(['film', 'sim-small'])
    expect(await named('?chat=true&group=default')).toEqual(['sim-small', 'film'])
    await api.settled(
      await api.append([77, 78, 79].map((id) => channelChanged(id, 'ChannelsDeleted'))),
    )
    expect(await named('?chat=true')).toEqual(['sim-small'])
  })

  it('for chats end with videos that are billed per call', async () => {
    const [film, older] = ['MiniMax-Hailuo-2.3', 'T2V-01']
    const terms = { type: 35, models: [film, older, 'sim-small'] }
    const data = { key: 'ModelPrice', value: JSON.stringify({ [film]: 1, [older]: 1 }) }
    const option = { stream: 'options', type: 'OptionSet', v: 1, data }
    await api.settled(await api.append([channelCreated(81, 'minimax', terms), option]))
    const path = '/api/user/models?chat=true&group=default'
    const { body } = await api.get<string[]>(path, alice)
    expect(body.data).toEqual(['sim-small', film, older])
    await api.settled(await api.append([channelChanged(81, 'ChannelsDeleted')]))
  })
})

describe('channels', () => {
  it('are listed by priority or by id, and never with a key', async () => {
    const ids = async (query: string) => {
      const { body } = await api.get<List<Channel>>(`/api/channel/${query}`, admin)
      expect(body.data.items.every(({ key }) => key === '')).toBe(true)
      return [body.data.items.map(({ id }) => id), body.data.total]
    }
    expect(await ids('')).toEqual([[2, 1, 3], 3])
    expect(await ids('?id_sort=true')).toEqual([[3, 2, 1], 3])
    expect(await ids('search?group=inner')).toEqual([[2], 1])
    expect(await ids('search?model=sim-small&keyword=che')).toEqual([[1], 1])
    expect((await api.get('/api/channel/', alice)).status).toBe(403)
    expect((await api.get('/api/channel/4', admin)).status).toBe(404)
  })

  it('say why and when the gateway turned them off', async () => {
    const { data } = (await api.get<Channel>('/api/channel/3', admin)).body
    expect(data.status).toBe(3)
    expect(JSON.parse(data.other_info)).toMatchObject({ status_reason: 'status_401' })
  })

  it('offer their models only if the relay serves their type', async () => {
    const unserved = channelCreated(9, 'of no provider', { type: 41, models: ['sim-none'] })
    await api.settled(await api.append([unserved]))
    const enabled = await api.get('/api/channel/models_enabled', admin)
    expect(enabled.body.data).toEqual(['sim-small', 'sim-vip'])
    const known = await api.get<{ id: string }[]>('/api/channel/models', admin)
    expect(known.body.data).toContainEqual({ id: 'sim-large' })
  })
})

/** The status object of the product's specification. */
const STATUS = [
  ...['system_name', 'logo', 'footer_html', 'quota_per_unit', 'display_in_currency'],
  ...['enable_drawing', 'enable_task', 'enable_data_export', 'chats', 'data_export_default_time'],
  ...['default_collapse_sidebar', 'mj_notify_enabled', 'chat_link', 'chat_link2', 'docs_link'],
  ...['version', 'start_time', 'aff_enabled', 'check_in_enabled'],
  ...['turnstile_check', 'turnstile_site_key', 'github_oauth', 'github_client_id'],
  ...['oidc_enabled', 'oidc_client_id', 'oidc_authorization_endpoint'],
  ...['linuxdo_oauth', 'linuxdo_client_id', 'telegram_oauth', 'telegram_bot_name'],
  ...['wechat_login', 'wechat_qrcode', 'self_use_mode_enabled', 'demo_site_enabled'],
]
/** The further members of the status, which the pages of the console need. */
const STATUS_BESIDE = [
  ...['server_address', 'min_topup', 'setup', 'group_colors', 'email_verification'],
  ...['password_login_enabled', 'password_register_enabled', 'register_enabled'],
  ...['enable_online_topup', 'topup_methods', 'top_up_link', 'rebate_percentage'],
  ...['data_export_interval', 'enable_video'],
]

describe('users and the site', () => {
  it('users are listed with their balances and without their passwords', async () => {
    const { body } = await api.get<List<User>>('/api/user/search?keyword=ali', admin)
    expect(body.data.items).toHaveLength(1)
    expect(body.data.items[0]).toMatchObject({ id: ALICE, quota: 77, username: 'alice', role: 1 })
    expect(JSON.stringify(body)).not.toMatch(/password/i)
    expect((await api.get('/api/user/', alice)).status).toBe(403)
    expect((await api.get(`/api/user/${BOB}`, alice)).status).toBe(403)
    expect((await api.get('/api/user/99', admin)).status).toBe(404)
    const self = await api.get<User>('/api/user/self', alice)
    expect(self.body.data).toMatchObject({ id: ALICE, display_name: 'ALICE' })
  })

  const usersOf = async (query: string) => {
    const { data } = (await api.get<List<User>>(`/api/user/${query}`, admin)).body
    return [data.items.map(({ id }) => id), data.page, data.total]
  }

  it('users are paged newest first, and each appears once', async () => {
    expect(await usersOf('')).toEqual([[BOB, ALICE, ADMIN, ROOT], 0, 4])
    expect(await usersOf('?p=0&page_size=3')).toEqual([[BOB, ALICE, ADMIN], 0, 4])
    expect(await usersOf('?p=1&page_size=3')).toEqual([[ROOT], 1, 4])
    expect(await usersOf('?p=2&page_size=3')).toEqual([[], 2, 4])
    expect(await usersOf('search?p=1&page_size=2')).toEqual([[ADMIN, ROOT], 1, 4])
  })

  it('users are found by their whole group name, alone or with a keyword', async () => {
    const moved = (userId: number) => {
      const data = { userId, group: 'inner' }
      return { stream: `user-${userId}`, type: 'UserGroupChanged', v: 1, data }
    }
    await api.settled(await api.append([moved(BOB), moved(ADMIN)]))
    expect(await usersOf('search?group=inner')).toEqual([[BOB, ADMIN], 0, 2])
    expect(await usersOf('search?group=inner&page_size=1&p=1')).toEqual([[ADMIN], 1, 2])
    expect(await usersOf('search?group=default')).toEqual([[ALICE, ROOT], 0, 2])
    expect(await usersOf('search?group=inner&keyword=bo')).toEqual([[BOB], 0, 1])
    expect(await usersOf('search?group=inner&keyword=ali')).toEqual([[], 0, 0])
    expect(await usersOf('search?group=inne')).toEqual([[], 0, 0])
    expect(await usersOf('search?group=')).toEqual([[BOB, ALICE, ADMIN, ROOT], 0, 4])
  })

  it('a read waits for the position in its header, and refuses an invalid one', async () => {
    const position = (await api.core.store.headPosition()) + 1
    const read = api.get<User>('/api/user/self', { ...alice, 'x-after-position': `${position}` })
    await api.append([granted(ALICE, 23)])
    expect((await read).body.data.quota).toBe(100)
    const bad = await api.get('/api/user/self', { ...alice, 'x-after-position': 'soon' })
    expect(bad.status).toBe(400)
  })

  it('anyone may read the complete site status and whether the setup is done', async () => {
    const { status, body } = await api.get('/api/status')
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ quota_per_unit: 500_000, setup: false, version: '0.1.0' })
    expect(Object.keys(body.data as object).sort()).toEqual([...STATUS, ...STATUS_BESIDE].sort())
    expect((await api.get('/api/setup')).body.data).toMatchObject({ status: false })
  })

  it('the site status tells whether the site has a channel that makes videos', async () => {
    const status = async () => (await api.get<object>('/api/status')).body.data
    expect(await status()).toMatchObject({ enable_task: false, enable_video: false })
    const channel = channelCreated(80, 'videos', { type: 1, models: ['sora-2'] })
    await api.settled(await api.append([channel]))
    expect(await status()).toMatchObject({ enable_task: false, enable_video: true })
    await api.settled(await api.append([channelChanged(80, 'ChannelsDeleted')]))
    expect(await status()).toMatchObject({ enable_video: false })
  })

  it('admins may read the options and groups, users only their own groups', async () => {
    const { body } = await api.get<{ key: string; value: string }[]>('/api/option/', admin)
    expect(body.data.map(({ key }) => key)).toContain('ModelRatio')
    expect((await api.get('/api/option/', alice)).status).toBe(403)
    const groups = await api.get<Record<string, unknown>>('/api/user/self/groups', alice)
    expect(groups.body.data).toHaveProperty('default')
    expect((await api.get<string[]>('/api/group/', admin)).body.data).toContain('default')
  })

  it('the OpenAPI document describes the read routes', async () => {
    const { body } = await api.get('/api/openapi.json')
    const { paths } = body as unknown as { paths: Record<string, unknown> }
    expect(Object.keys(paths).sort()).toEqual(
      expect.arrayContaining(['/api/log/', '/api/log/self/', '/api/token/', '/api/user/self']),
    )
  })
})
