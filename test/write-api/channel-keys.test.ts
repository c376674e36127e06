import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { channelsDecider } from '#domain/channel/decide.ts'
import { CHANNELS_STREAM } from '#domain/channel/events.ts'
import { channelHealthDecider } from '#domain/channel-health/decide.ts'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import type { Channel } from '#read-api/contract/channel.ts'
import { type FurnishedFixture, furnishedFixture } from './write-fixture.ts'

let fixture: FurnishedFixture

beforeAll(async () => {
  fixture = await furnishedFixture()
})
afterAll(() => fixture.close())

const FIELDS = { name: 'keys', models: 'm', base_url: 'https://api.example.com' }
const make = (fields: object) =>
  fixture.admin.call<{ id: number; ids: number[] }>('POST', '/api/channel/', {
    body: { ...FIELDS, ...fields },
  })
const put = (body: object) => fixture.admin.call('PUT', '/api/channel/', { body })
const read = async (id: number): Promise<Channel> =>
  (await fixture.admin.call<Channel>('GET', `/api/channel/${id}`)).data

/** The provider keys of the channel, in order, and how many of its secrets are kept. */
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
  const command = { type: 'SetKeyAside', channelId: id, keyRef, reason: 'status-401' } as const
  const context = { actor: 'system:relay', cause: null, at: Date.now() }
  await core.actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  const headers = { 'x-after-position': String(await fixture.head()) }
  await fixture.admin.call('GET', `/api/channel/${id}`, { headers })
}

describe('several keys', () => {
  it('make a channel each, their names numbered, by one event', async () => {
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

  it('are all one channel’s, taken at random or in turn', async () => {
    const { data } = await make({ mode: 'multi_to_single', key: 'sk-a\nsk-b' })
    expect(await read(data.id)).toMatchObject({ multi_key_mode: 'random', key_count: 2, key: '' })
    expect((await keysOf(data.id)).keys).toEqual(['sk-a', 'sk-b'])
    const polling = { mode: 'multi_to_single', multi_key_mode: 'polling', key: 'sk-a\nsk-b' }
    expect(await read((await make(polling)).data.id)).toMatchObject({ multi_key_mode: 'polling' })
  })

  it('that are JSON stay whole', async () => {
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
  ] as const)('are refused as a whole: %#', async (fields, status, message) => {
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

  it('are added to, or replaced and gone', async () => {
    const id = await two()
    expect(await put({ id, key: 'sk-c', key_mode: 'append' })).toMatchObject({ success: true })
    expect(await keysOf(id)).toEqual({ keys: ['sk-a', 'sk-b', 'sk-c'], kept: 3 })
    expect(await put({ id, key: 'sk-d\nsk-e' })).toMatchObject({ success: true })
    expect(await keysOf(id)).toEqual({ keys: ['sk-d', 'sk-e'], kept: 2 })
    expect(await put({ id, multi_key_mode: 'random' })).toMatchObject({ success: true })
    expect(await read(id)).toMatchObject({ multi_key_mode: 'random', key_count: 2 })
  })

  it('are in it once: what is added twice is left out, and said', async () => {
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

  it('close what circuits are open when they, or where they go, are changed', async () => {
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

  it('make several of one key when one is added', async () => {
    const { id } = (await make({ key: 'sk-a' })).data
    await put({ id, key: 'sk-b', key_mode: 'append', multi_key_mode: '' })
    expect(await read(id)).toMatchObject({ multi_key_mode: 'random', key_count: 2 })
    expect(await put({ id, multi_key_mode: '' })).toMatchObject({ code: 'OneKeyOnly' })
  })

  it('do not follow to a new address because another is added', async () => {
    const id = await two()
    const body = { id, base_url: 'https://thief.example', key: 'sk-x', key_mode: 'append' }
    expect(await put(body)).toMatchObject({ success: false, code: 'KeyRequired' })
    expect(await keysOf(id)).toEqual({ keys: ['sk-a', 'sk-b'], kept: 2 })
  })

  it('that were set aside say why, and are used again when asked for', async () => {
    const id = await two()
    await setAside(id, 1)
    const { keys_set_aside: aside } = await read(id)
    expect(aside).toMatchObject([{ index: 1, reason: 'status-401' }])
    expect(aside[0]?.time).toBeGreaterThan(1_700_000_000)
    expect(await put({ id, enable_keys: [0, 1] })).toMatchObject({ success: true })
    expect((await read(id)).keys_set_aside).toEqual([])
    expect(await put({ id, enable_keys: [2] })).toMatchObject({ status: 400 })
  })

  it('stay when the row that was read is sent back', async () => {
    const id = await two()
    await setAside(id, 0)
    const head = await fixture.head()
    expect(await put(await read(id))).toMatchObject({ success: true })
    expect(await fixture.head()).toBe(head)
  })
})

describe('a copy', () => {
  it('has the terms and keys of its own, and is off where that one is', async () => {
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

  it('is named in the language of who makes it', async () => {
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

  it('is refused, as a new one is, in a group that is there no more', async () => {
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

  it('is refused at an address that may not be called any more', async () => {
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

  it('of none is none', async () => {
    const answer = await fixture.admin.call('POST', '/api/channel/copy/999999')
    expect(answer).toMatchObject({ status: 404, message: '渠道未找到，请刷新页面后重试。' })
  })
})
