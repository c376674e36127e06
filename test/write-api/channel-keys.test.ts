import { describe, expect, it } from 'vitest'
import { channelHealthDecider } from '#domain/channel-health/decide.ts'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { serviceAccountFile } from '#test/relay/support/service-account.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const FIELDS = { name: 'keys', models: 'm', base_url: 'https://api.example.com' }
const make = (fields: object) =>
  fixture.admin.call<{ id: number; ids: number[] }>('POST', '/api/channel/', {
    body: { ...FIELDS, ...fields },
  })
const put = (body: object) => fixture.admin.call('PUT', '/api/channel/', { body })
const read = async (id: number): Promise<Channel> =>
  (await fixture.admin.call<Channel>('GET', `/api/channel/${id}`)).data

/** Returns the provider keys of the channel, in order, and the number of its stored secrets. */
async function keysOf(id: number) {
  const { core } = fixture
  const { channels } = await core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const refs = channels.get(id)?.keyRefs ?? []
  const owner = `channel:${id}`
  const keys = await core.vault.getSecrets(
    'channel-key',
    refs.map((ref) => ({ owner, ref })),
  )
  const { rows } = await core.pg.query<{ n: number }>(
    'select count(*)::int as n from vault.secrets where owner = $1',
    [owner],
  )
  return { keys: refs.map((ref) => keys.get(ref)), kept: rows[0]?.n }
}

async function setAside(id: number, place: number): Promise<void> {
  const { core } = fixture
  const { channels } = await core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const keyRef = channels.get(id)?.keyRefs[place] ?? ''
  const command = {
    type: 'SetKeyAside',
    channelId: id,
    keyRef,
    reason: 'status-401',
    substitutes: [],
  } as const
  const context = { actor: 'system:relay', cause: null, at: Date.now() }
  await core.actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  const headers = { 'x-after-position': String(await fixture.head()) }
  await fixture.admin.call('GET', `/api/channel/${id}`, { headers })
}

describe('creating a channel with several keys', () => {
  it('creates one channel per key with numbered names, by one event', async () => {
    const head = await fixture.head()
    const { data, message } = await make({ mode: 'batch', key: 'sk-a\n\n sk-b \nsk-a\nsk-c' })
    expect(message).toBe('已忽略 1 个重复的密钥。')
    expect(data.ids).toEqual([data.id, data.id + 1, data.id + 2])
    const events = await fixture.core.store.readAll(head, 100)
    expect(events.map(({ type }) => type)).toEqual(['ChannelsCreated'])
    for (const [place, id] of data.ids.entries()) {
      expect(await read(id)).toMatchObject({ name: `keys_${place + 1}`, key_count: 1 })
      expect((await keysOf(id)).keys).toEqual([['sk-a', 'sk-b', 'sk-c'][place]])
    }
  })

  it('puts all keys into one channel, for use at random or in rotation', async () => {
    const { data } = await make({ mode: 'multi_to_single', key: 'sk-a\nsk-b' })
    expect(await read(data.id)).toMatchObject({ multi_key_mode: 'random', key_count: 2, key: '' })
    expect((await keysOf(data.id)).keys).toEqual(['sk-a', 'sk-b'])
    const polling = { mode: 'multi_to_single', multi_key_mode: 'polling', key: 'sk-a\nsk-b' }
    expect(await read((await make(polling)).data.id)).toMatchObject({ multi_key_mode: 'polling' })
  })

  it('keeps a JSON key whole', async () => {
    const { data } = await make({ key: '{\n "client_email": "x",\n "private_key": "y"\n}' })
    expect((await keysOf(data.id)).keys).toHaveLength(1)
  })

  it.each([
    [{ key: 'sk-a\nsk-b' }, 200, '该渠道只能填写一个密钥'],
    [{ mode: 'batch', key: ' \n ' }, 200, '请填写渠道名称和渠道密钥！'],
    [{ mode: 'several', key: 'k' }, 400, 'mode'],
    [{ multi_key_mode: 'first', key: 'k' }, 400, 'multi_key_mode'],
    [
      { mode: 'batch', key: Array.from({ length: 1_001 }, (_, n) => `k${n}`).join('\n') },
      ...([200, '密钥数量不得超过 1000 个'] as const),
    ],
    [{ mode: 'batch', key: 'a\nb', model_mapping: '[]' }, 400, 'model_mapping'],
  ] as const)('refuses invalid input as a whole: %#', async (fields, status, message) => {
    const head = await fixture.head()
    const secrets = () => fixture.core.pg.query('select count(*) from vault.secrets')
    const before = (await secrets()).rows
    const answer = await make(fields)
    expect(answer).toMatchObject({ status, success: false })
    expect(answer.message).toContain(message)
    expect(await fixture.head()).toBe(head)
    expect((await secrets()).rows).toEqual(before)
  })
})

describe('the keys of a channel', () => {
  const two = async () =>
    (await make({ mode: 'multi_to_single', key: 'sk-a\nsk-b', multi_key_mode: 'polling' })).data.id

  it('are extended by an append; a replacement removes the old ones', async () => {
    const id = await two()
    expect(await put({ id, key: 'sk-c', key_mode: 'append' })).toMatchObject({ success: true })
    expect(await keysOf(id)).toEqual({ keys: ['sk-a', 'sk-b', 'sk-c'], kept: 3 })
    expect(await put({ id, key: 'sk-d\nsk-e' })).toMatchObject({ success: true })
    expect(await keysOf(id)).toEqual({ keys: ['sk-d', 'sk-e'], kept: 2 })
    expect(await put({ id, multi_key_mode: 'random' })).toMatchObject({ success: true })
    expect(await read(id)).toMatchObject({ multi_key_mode: 'random', key_count: 2 })
  })

  it('are unique: an append skips the known keys and reports how many', async () => {
    const id = await two()
    const add = (key: string) => put({ id, key, key_mode: 'append' })
    expect(await add('sk-b\nsk-c\nsk-c')).toMatchObject({
      ...{ success: true, message: '已忽略 2 个重复的密钥。' },
    })
    expect(await keysOf(id)).toEqual({ keys: ['sk-a', 'sk-b', 'sk-c'], kept: 3 })
    const head = await fixture.head()
    expect(await add('sk-c\nsk-a')).toMatchObject({
      ...{ status: 200, success: false, code: 'KeyRepeated' },
      message: '该渠道已有这个密钥，无需重复添加',
    })
    expect(await keysOf(id)).toEqual({ keys: ['sk-a', 'sk-b', 'sk-c'], kept: 3 })
    expect(await fixture.head()).toBe(head)
    const answers = await Promise.all([add('sk-d'), add('sk-d')])
    expect(answers.map(({ success }) => success).sort()).toEqual([false, true])
    expect((await keysOf(id)).keys).toEqual(['sk-a', 'sk-b', 'sk-c', 'sk-d'])
  })

  it('close the open circuits when the keys or the address change', async () => {
    const id = await two()
    const { actors, store } = fixture.core
    const stream = channelHealthStream(id)
    const fail = (at: number) =>
      actors.handle(
        channelHealthDecider,
        stream,
        {
          type: 'OpenCircuit',
          scope: { channelId: id, model: null, keyRef: null },
          cooldown: { baseMs: 1_000, maxMs: 1_000, jitter: 0, retryAfterMs: 0 },
          ...{ reason: 'connect', failures: 5, prober: null, at },
        },
        { actor: 'system:relay', cause: null, at },
      )
    const last = async () => (await store.readStream(stream)).at(-1)
    await fail(1)
    await put({ id, priority: 3 })
    expect((await last())?.type).toBe('CircuitOpened')
    await put({ id, key: 'sk-new', key_mode: 'append' })
    expect(await last()).toMatchObject({ type: 'CircuitClosed', data: { reason: 'change' } })
    expect((await last())?.meta.actor).toMatch(/^user:/)
    await fail(2)
    await put({ id, base_url: 'https://other.example.com', key: 'sk-z' })
    expect((await last())?.type).toBe('CircuitClosed')
    await fail(3)
    const refusal = await put({ id, base_url: 'https://third.example.com' })
    expect(refusal).toMatchObject({ code: 'KeyRequired' })
    expect((await last())?.type).toBe('CircuitOpened')
  })

  it('are used at random once a second key is appended to a single one', async () => {
    const { id } = (await make({ key: 'sk-a' })).data
    await put({ id, key: 'sk-b', key_mode: 'append', multi_key_mode: '' })
    expect(await read(id)).toMatchObject({ multi_key_mode: 'random', key_count: 2 })
    expect(await put({ id, multi_key_mode: '' })).toMatchObject({ code: 'OneKeyOnly' })
  })

  it('are not reused at a new address, even if another key is appended', async () => {
    const id = await two()
    const body = { id, base_url: 'https://thief.example', key: 'sk-x', key_mode: 'append' }
    expect(await put(body)).toMatchObject({ success: false, code: 'KeyRequired' })
    expect(await keysOf(id)).toEqual({ keys: ['sk-a', 'sk-b'], kept: 2 })
  })

  it('show why they were set aside, and are enabled again on request', async () => {
    const id = await two()
    await setAside(id, 1)
    const { keys_set_aside: aside } = await read(id)
    expect(aside).toMatchObject([{ index: 1, reason: 'status-401' }])
    expect(aside[0]?.time).toBeGreaterThan(1_700_000_000)
    expect(await put({ id, enable_keys: [0, 1] })).toMatchObject({ success: true })
    expect((await read(id)).keys_set_aside).toEqual([])
    expect(await put({ id, enable_keys: [2] })).toMatchObject({ status: 400 })
  })

  it('stay unchanged when the row is sent back as it was read', async () => {
    const id = await two()
    await setAside(id, 0)
    const head = await fixture.head()
    expect(await put(await read(id))).toMatchObject({ success: true })
    expect(await fixture.head()).toBe(head)
  })
})

describe('a copy of a channel', () => {
  it('has separate terms and keys, and is disabled if the original is', async () => {
    const { data } = await make({ mode: 'multi_to_single', key: 'sk-a\nsk-b', tag: 't', weight: 4 })
    await put({ id: data.id, status: 2 })
    const copy = await fixture.admin.call<{ id: number }>('POST', `/api/channel/copy/${data.id}`)
    const { id } = copy.data
    expect(await read(id)).toMatchObject({
      ...{ name: 'keys_复制', tag: 't', weight: 4, status: 2, multi_key_mode: 'random' },
    })
    await put({ id: data.id, key: 'sk-z' })
    expect((await keysOf(id)).keys).toEqual(['sk-a', 'sk-b'])
  })

  it('is named in the language of the caller', async () => {
    const { data } = await make({ name: 'mine', key: 'sk-a' })
    for (const [language, name] of [
      ['zh', 'mine_复制'],
      ['en', 'mine_copy'],
    ] as const) {
      const copy = await fixture.admin.call<{ id: number }>(
        'POST',
        `/api/channel/copy/${data.id}`,
        { headers: { 'accept-language': language } },
      )
      expect(await read(copy.data.id)).toMatchObject({ name })
    }
  })

  it('is refused, like a new channel, in a group that no longer exists', async () => {
    const groups = (names: object) =>
      fixture.admin.call('PUT', '/api/option/', {
        body: { key: 'GroupRatio', value: JSON.stringify(names) },
      })
    await groups({ default: 1, vip: 1, old: 1 })
    const { data } = await make({ key: 'sk-a', group: 'default,old' })
    await groups({ default: 1, vip: 1 })
    const head = await fixture.head()
    const answer = await fixture.admin.call('POST', `/api/channel/copy/${data.id}`)
    expect(answer).toMatchObject({ status: 400, success: false, code: 'InvalidField' })
    expect(answer.message).toContain('分组「old」不存在')
    expect(await fixture.head()).toBe(head)
  })

  it('is refused if its address is no longer allowed', async () => {
    const { data } = await make({ key: 'sk-a' })
    const { actors, now } = fixture.core
    const change = { baseUrl: 'http://169.254.169.254' }
    const keys = { refs: ['another'], isAppended: false }
    await actors.handle(
      channelsDecider,
      CHANNELS_STREAM,
      { type: 'ChangeTerms', channelId: data.id, change, keys, keyMode: null },
      { actor: 'user:1', cause: 'a test', at: now() },
    )
    const answer = await fixture.admin.call('POST', `/api/channel/copy/${data.id}`)
    expect(answer).toMatchObject({ success: false, code: 'AddressNotAllowed' })
  })

  it('is refused for an unknown channel', async () => {
    const answer = await fixture.admin.call('POST', '/api/channel/copy/999999')
    expect(answer).toMatchObject({ status: 404, message: '渠道未找到，请刷新页面后重试。' })
  })
})

/** Returns the proxy that the channel's calls would use, with its login. */
async function proxyInUse(id: number): Promise<string | undefined> {
  const { channels } = await fixture.core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const ref = channels.get(id)?.terms.proxyRef ?? ''
  const owner = `channel:${id}`
  return (await fixture.core.vault.getSecrets('channel-proxy', [{ owner, ref }])).get(ref)
}

/** Returns the number of stored secrets of these channels, or of all channels. */
async function secretsOf(...ids: number[]): Promise<number | undefined> {
  const { rows } = await fixture.core.pg.query<{ n: number }>(
    'select count(*)::int as n from vault.secrets where owner = any($1) or $2',
    [ids.map((id) => `channel:${id}`), ids.length === 0],
  )
  return rows[0]?.n
}

const inVault = async (id: number) => [await secretsOf(id), await proxyInUse(id)]

describe('the proxy of a channel', () => {
  const made = async (fields: object): Promise<number> =>
    (await make({ key: 'sk-provider', ...fields })).data.id

  it('has a password that is never shown, and stays if the masked one is sent back', async () => {
    const id = await made({
      setting: '{"proxy":"http:\\/\\/me:canary@p.example:1","n":1.50}',
    })
    const settingNow = async () => {
      const { channels } = await fixture.core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
      return channels.get(id)?.terms.setting
    }
    const { setting } = await read(id)
    expect(setting).toBe('{"proxy":"http://me:***@p.example:1","n":1.50}')
    const head = await fixture.head()
    expect(await put({ id, setting })).toMatchObject({ success: true })
    expect(await fixture.head()).toBe(head)
    const other = setting.replace('1.50', '2')
    expect(await put({ id, setting: other })).toMatchObject({ success: true })
    expect(await settingNow()).toBe('{"proxy":"http://me:***@p.example:1","n":2}')
    expect(await proxyInUse(id)).toBe('http://me:canary@p.example:1')
    const list = await fixture.admin.call('GET', '/api/channel/?page_size=100')
    expect(JSON.stringify(list)).not.toContain('canary@')
    const elsewhere = { setting: other.replace('p.example', 'q.example'), key: 'sk-another' }
    for (const answer of [await put({ id, ...elsewhere }), await make({ ...elsewhere })])
      expect(answer).toMatchObject({ status: 400, message: expect.stringContaining('重新填写') })
  })

  it('has its login in the vault as long as a channel uses it', async () => {
    const settingOf = (login: string) => JSON.stringify({ proxy: `http://${login}p.example:1` })
    const head = await fixture.head()
    const id = await made({ setting: settingOf('me:canary-1@') })
    const { data } = await fixture.admin.call<{ id: number }>('POST', `/api/channel/copy/${id}`)
    const copy = data.id
    expect(await proxyInUse(copy)).toBe('http://me:canary-1@p.example:1')
    expect([await secretsOf(id), await secretsOf(copy)]).toEqual([2, 2])
    // Entering the same setting again changes nothing.
    const before = await fixture.head()
    expect(await put({ id, setting: settingOf('me:canary-1@') })).toMatchObject({ success: true })
    expect(await fixture.head()).toBe(before)
    // Another proxy login requires the key again. A refused request leaves no secret behind.
    const other = { id, setting: settingOf('me:canary-2@') }
    expect(await put(other)).toMatchObject({ code: 'KeyRequired' })
    expect(await inVault(id)).toEqual([2, 'http://me:canary-1@p.example:1'])
    expect(await put({ ...other, key: 'sk-new' })).toMatchObject({ success: true })
    expect(await inVault(id)).toEqual([2, 'http://me:canary-2@p.example:1'])
    const all = await secretsOf()
    const refused = { key: 'sk-a', setting: other.setting, name: 'a\u0007' }
    expect(await make(refused)).toMatchObject({ code: 'InvalidField' })
    expect(await secretsOf()).toBe(all)
    const direct = { id, setting: settingOf(''), key: 'sk-newer' }
    expect(await put(direct)).toMatchObject({ success: true })
    expect(await inVault(id)).toEqual([1, undefined])
    const batch = { mode: 'batch', key: 'sk-a\nsk-b', setting: settingOf('token@') }
    const several = await make(batch)
    const { ids } = several.data
    expect(await Promise.all(ids.map(proxyInUse))).toEqual(
      ids.map(() => 'http://token@p.example:1'),
    )
    expect(await secretsOf(...ids)).toBe(4)
    const events = JSON.stringify(await fixture.core.store.readAll(head, 100))
    expect(events).not.toMatch(/canary-|token@/)
    expect(events).toContain('http://***@p.example:1')
    for (const one of [...ids, copy]) await fixture.admin.call('DELETE', `/api/channel/${one}`)
    expect(await secretsOf(...ids, copy)).toBe(0)
  })

  it('still works with a login in an old setting, which is shown masked', async () => {
    const id = await made({})
    const { core } = fixture
    const change = { setting: '{"proxy":"http://me:canary@p.example:1"}' }
    const keys = { refs: ['another'], isAppended: false }
    const command = { type: 'ChangeTerms', channelId: id, change, keys, keyMode: null } as const
    const context = { actor: 'system:test', cause: null, at: Date.now() }
    await core.actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
    const headers = { 'x-after-position': String(await fixture.head()) }
    await fixture.admin.call('GET', `/api/channel/${id}`, { headers })
    const { setting } = await read(id)
    expect(setting).toBe('{"proxy":"http://me:***@p.example:1"}')
    expect(await put({ id, setting, weight: 8 })).toMatchObject({ success: true })
    const { channels } = await core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
    expect(channels.get(id)?.terms).toMatchObject({ ...change, weight: 8 })
    const login = { setting: '{"proxy":"http://me:another@p.example:1"}', key: 'sk-another' }
    expect(await put({ id, ...login })).toMatchObject({ success: true })
    expect(await proxyInUse(id)).toBe('http://me:another@p.example:1')
  })

  it('has a password that no other setting reveals, in the channel or its copy', async () => {
    const own = { proxy: 'http://me:canary@p.example:1' }
    const id = await made({ setting: JSON.stringify(own) })
    const copy = await fixture.admin.call<{ id: number }>('POST', `/api/channel/copy/${id}`)
    const shown = 'http://me:***@p.example:1'
    const other = { proxy: 'http://other.example:1' }
    for (const setting of [
      { n: shown },
      { ...other, n: shown },
      { ...other, [shown]: shown },
      { n: { proxy: shown } },
      { proxy: shown, n: shown },
    ])
      for (const one of [id, copy.data.id]) {
        const text = JSON.stringify(setting)
        await put({ id: one, key: 'sk-known', setting: JSON.stringify(own) })
        const answer = await put({ id: one, key: 'sk-known', setting: text })
        expect(answer).toMatchObject({ success: true })
        expect((await read(one)).setting).toBe(text)
      }
    expect(
      await put({ id, setting: JSON.stringify({ proxy: shown, tag: 't' }), tag: 't' }),
    ).toMatchObject({ success: true })
    await fixture.admin.call('PUT', '/api/channel/tag', { body: { tag: 't', priority: 2 } })
    expect((await read(id)).setting).toBe(JSON.stringify({ proxy: shown, tag: 't' }))
  })
})

describe('the keys of a cloud provider', () => {
  const aws = (id: string) => `${id}|secret|eu-west-1`

  it('must have the form of their type when they are added', async () => {
    const bedrock = { type: 33, base_url: '', mode: 'multi_to_single' }
    const { data } = await make({ ...bedrock, key: `${aws('one')}\n${aws('two')}` })
    expect((await keysOf(data.id)).keys).toEqual([aws('one'), aws('two')])
    const added = { id: data.id, key: `${aws('three')}\nfour|secret`, key_mode: 'append' }
    const answer = await put(added)
    expect(answer).toMatchObject({ status: 400, success: false })
    expect(answer.message).toContain('key')
    expect(await keysOf(data.id)).toMatchObject({ keys: [aws('one'), aws('two')], kept: 2 })
  })

  it('may be several key files, as a list or one per line', async () => {
    const files = ['a', 'b'].map((id) => JSON.parse(serviceAccountFile({ private_key_id: id })))
    const lines = files.map((file) => JSON.stringify(file))
    const vertex = { type: 41, base_url: '', mode: 'multi_to_single' }
    for (const key of [lines.join('\n'), JSON.stringify(files, null, 2)]) {
      const { data } = await make({ ...vertex, key })
      expect((await keysOf(data.id)).keys).toEqual(lines)
    }
    for (const key of ['[', '[]', '[7]', `${lines[0]}\n{`, '{"a":1,"a":2}\n{"b":1}']) {
      expect(await make({ ...vertex, key })).toMatchObject({ status: 400, success: false })
    }
  })

  it('may be a key file of several lines', async () => {
    const key = serviceAccountFile()
    const { data } = await make({ type: 41, base_url: '', other: 'us-east5', key })
    expect((await keysOf(data.id)).keys).toEqual([key])
    const planted = serviceAccountFile({ token_uri: 'https://evil.example/token' })
    expect(await put({ id: data.id, key: planted })).toMatchObject({ status: 400 })
  })
})
