import { describe, expect, it } from 'vitest'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import type { Channel } from '#read-api/contract/channels.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { fifty, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const FIELDS = {
  name: 'one',
  type: 1,
  key: 'sk-provider-canary',
  base_url: 'https://api.example.com/',
  models: 'gpt-4o, gpt-4o-mini,,gpt-4o',
  group: 'default,vip',
  priority: -3,
  weight: 7,
}

const make = (body: object = FIELDS) =>
  fixture.admin.call<{ id: number }>('POST', '/api/channel/', { body })
const put = (body: object) => fixture.admin.call('PUT', '/api/channel/', { body })
const read = async (id: number): Promise<Channel> =>
  (await fixture.admin.call<Channel>('GET', `/api/channel/${id}`)).data
const made = async (body: object = FIELDS): Promise<number> => (await make(body)).data.id

/** Returns the provider key that calls of this channel would use now. */
async function keyInUse(id: number): Promise<string | undefined> {
  const { channels } = await fixture.core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const ref = channels.get(id)?.keyRefs[0] ?? ''
  const keys = await fixture.core.vault.getSecrets('channel-key', [{ owner: `channel:${id}`, ref }])
  return keys.get(ref)
}

describe('a new channel', () => {
  it('is enabled, has tidied fields, and never shows its key', async () => {
    const id = await made()
    expect(await read(id)).toMatchObject({
      name: 'one',
      key: '',
      base_url: 'https://api.example.com',
      models: 'gpt-4o,gpt-4o-mini',
      group: 'default,vip',
      priority: -3,
      weight: 7,
      auto_ban: 1,
      status: 1,
    })
    expect(await keyInUse(id)).toBe('sk-provider-canary')
  })

  it('keeps the cost ratio of its provider until the ratio is cleared', async () => {
    const ratio = async (id: number) => (await read(id)).cost_ratio
    const id = await made({ ...FIELDS, cost_ratio: 0.6 })
    expect([await ratio(await made()), await ratio(id)]).toEqual([null, 0.6])
    const copy = await fixture.admin.call<{ id: number }>('POST', `/api/channel/copy/${id}`)
    expect(await ratio(copy.data.id)).toBe(0.6)
    await put({ id, weight: 3 })
    expect(await ratio(id)).toBe(0.6)
    await put({ id, cost_ratio: 0.000001 })
    expect(await ratio(id)).toBe(0.000001)
    await put({ id, cost_ratio: null })
    expect(await ratio(id)).toBeNull()
    for (const cost_ratio of [-0.1, 1_000.5, 1e-7, '0.5', true]) {
      const answer = await put({ id, cost_ratio })
      expect([cost_ratio, answer.status, answer.message]).toEqual([
        cost_ratio,
        400,
        expect.stringContaining('cost_ratio'),
      ])
    }
  })

  it('has a unique id in an unbroken sequence when fifty are created at once', async () => {
    const before = await made()
    const ids = await fifty((n) => made({ ...FIELDS, name: `race ${n}` }))
    expect(ids.sort((one, other) => one - other)).toEqual(
      Array.from({ length: 50 }, (_, n) => before + 1 + n),
    )
  })

  it.each([
    [{ name: ' ' }, 200, '请填写渠道名称和渠道密钥！'],
    [{ key: ' ' }, 200, '请填写渠道名称和渠道密钥！'],
    [{ models: ' , ' }, 200, '请至少选择一个模型！'],
    [{ key: 'one\ntwo' }, 200, '该渠道只能填写一个密钥'],
    [{ model_mapping: '{' }, 400, 'model_mapping'],
    [{ setting: 'x' }, 400, 'setting'],
    [{ param_override: '[1,' }, 400, 'param_override'],
    [{ priority: 1.5 }, 400, 'priority'],
    [{ expired_time: 1_000 }, 400, 'expired_time'],
    [{ weight: -1 }, 400, 'weight'],
    [{ base_url: 'ftp://x' }, 400, 'base_url'],
    [{ type: 21 }, 400, 'type'],
    [{ type: 999 }, 400, 'type'],
    [{ type: 39, other: ' ' }, 400, 'other'],
    [{ type: 3, base_url: ' ' }, 400, 'base_url 无效：该类型必须填写地址'],
    [{ type: 8, base_url: undefined }, 400, 'base_url 无效：该类型必须填写地址'],
    [{ type: 8, base_url: 'kimi-coding-plan' }, 400, 'base_url 无效：该类型没有这个地址'],
    [{ group: '' }, 400, 'group'],
    [{ group: ' , ' }, 400, 'group'],
    [{ group: 'default,vipp' }, 400, 'group 无效：分组「vipp」不存在'],
    [{ type: 11 }, 400, 'type'],
    [{ type: 33 }, 400, 'key 无效：格式不对，应为：Access Key|Secret Key|区域'],
    [{ type: 33, key: 'AKID|secret|here' }, 400, 'key'],
    [{ type: 41, key: '{"type":"service_account"}' }, 400, 'key'],
    [{ type: 41, other: 'us central' }, 400, 'other'],
    [{ type: 41, other: '{"default":7}' }, 400, 'other'],
  ])('is refused for %o', async (fields, status, message) => {
    const head = await fixture.head()
    const answer = await make({ ...FIELDS, ...fields })
    expect(answer).toMatchObject({ status, success: false })
    expect(answer.message).toContain(message)
    expect(await fixture.head()).toBe(head)
  })
})

describe('an address that calls must not be sent to', () => {
  const FORBIDDEN = [
    'http://169.254.169.254/latest',
    'http://metadata.google.internal',
    'http://10.0.0.5:8000',
    'http://[fd00::1]/v1',
    'http://0x0a000005/',
  ]

  it.each(FORBIDDEN)(
    '%s is refused on creation and on change, with the same message',
    async (url) => {
      const id = await made()
      const head = await fixture.head()
      const answers = [
        await make({ ...FIELDS, base_url: url }),
        await put({ id, base_url: url, key: 'sk-another' }),
      ]
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 200, success: false, code: 'AddressNotAllowed' })
        expect(answer.message).toBe(
          '参数 base_url 无效：不允许使用该地址（内网地址须列入 PRIVATE_UPSTREAMS）',
        )
        expect(answer).toHaveProperty('invalid_field.name', 'base_url')
      }
      expect(await fixture.head()).toBe(head)
      expect(await keyInUse(id)).toBe('sk-provider-canary')
    },
  )

  it.each([
    ['socks5://127.0.0.1:1080', 400, 'setting 无效：setting.proxy 必须是'],
    ['http://u:p@169.254.169.254:80', 200, 'setting 无效：不允许使用 setting.proxy 的地址'],
    ['http://10.0.0.5:3128', 200, 'setting 无效：不允许使用 setting.proxy 的地址'],
  ])('%s is refused as a proxy on creation and on change', async (proxy, status, message) => {
    const id = await made()
    const head = await fixture.head()
    const setting = JSON.stringify({ proxy })
    const answers = [
      await make({ ...FIELDS, setting }),
      await put({ id, setting, key: 'sk-another' }),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status, success: false })
      expect(answer.message).toContain(message)
    }
    expect(await fixture.head()).toBe(head)
  })

  it('does not prevent disabling a channel that has it already', async () => {
    const id = await made()
    const base_url = 'http://10.0.0.5:8000'
    const keys = { refs: ['another'], isAppended: false }
    const change = { baseUrl: base_url }
    const command = { type: 'ChangeTerms', channelId: id, change, keys, keyMode: null } as const
    const context = { actor: 'system:test', cause: null, at: Date.now() }
    const { core } = fixture
    await core.actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
    const headers = { 'x-after-position': String(await fixture.head()) }
    await fixture.admin.call('GET', `/api/channel/${id}`, { headers })
    expect(await put({ id, base_url, status: 2 })).toMatchObject({ success: true })
  })
})

describe('an existing channel', () => {
  it('accepts only groups that exist or that it already has', async () => {
    const id = await made()
    const refusal = { status: 400, success: false, code: 'InvalidField' }
    const answer = await put({ id, group: 'default,late' })
    expect(answer).toMatchObject(refusal)
    expect(answer.message).toContain('group 无效：分组「late」不存在')
    const set = (value: object) =>
      fixture.root.call('PUT', '/api/option/', {
        body: { key: 'GroupRatio', value: JSON.stringify(value) },
      })
    await set({ default: 1, vip: 1, late: 2 })
    expect(await put({ id, group: 'default,late' })).toMatchObject({ success: true })
    await set({ default: 1, vip: 1 })
    expect(await put({ id, group: 'late' })).toMatchObject({ success: true })
    expect(await put({ id, group: 'late,constructor' })).toMatchObject(refusal)
    expect(await read(id)).toMatchObject({ group: 'late' })
  })

  it('accepts its row as it was read, and writes nothing', async () => {
    const id = await made()
    const row = await read(id)
    const head = await fixture.head()
    expect((await put(row)).success).toBe(true)
    expect(await fixture.head()).toBe(head)
    expect(await keyInUse(id)).toBe('sk-provider-canary')
  })

  it('keeps an expiry time that has passed, and accepts no other past time', async () => {
    const soon = Math.floor(Date.now() / 1_000) + 60
    const id = await made({ ...FIELDS, expired_time: soon })
    fixture.clock.ahead += 61_000
    expect(await put({ id, expired_time: soon, weight: 8 })).toMatchObject({ success: true })
    const refused = await put({ id, expired_time: soon - 1, weight: 9 })
    expect(refused).toMatchObject({ status: 400, message: '参数 expired_time 无效：过期时间已过' })
    expect(await read(id)).toMatchObject({ expired_time: soon, weight: 8 })
  })

  it('needs its key again for a new address or type, so that no key leaks', async () => {
    const id = await made()
    for (const change of [{ base_url: 'https://thief.example' }, { type: 43 }]) {
      expect(await put({ id, ...change })).toMatchObject({ success: false, code: 'KeyRequired' })
      expect(await put({ id, ...change, key: '' })).toMatchObject({ code: 'KeyRequired' })
    }
    const change = { id, base_url: 'https://other.example', key: 'sk-second-canary' }
    expect((await put(change)).success).toBe(true)
    expect(await read(id)).toMatchObject({ base_url: 'https://other.example', name: 'one' })
    expect(await keyInUse(id)).toBe('sk-second-canary')
    const { rows } = await fixture.core.pg.query(
      'select count(*)::int as n from vault.secrets where owner = $1',
      [`channel:${id}`],
    )
    expect(rows).toEqual([{ n: 1 }])
  })

  it('is disabled and enabled by its status', async () => {
    const id = await made()
    await put({ id, status: 2 })
    expect(await read(id)).toMatchObject({ status: 2 })
    await put({ id, status: 1, priority: 9 })
    expect(await read(id)).toMatchObject({ status: 1, priority: 9 })
    // Only the gateway sets status 3, but an update may send it back unchanged.
    expect(await put({ id, status: 3 })).toMatchObject({
      status: 400,
      code: 'InvalidField',
      message: expect.stringContaining('参数 status 无效'),
    })
    const turnedOff = {
      type: 'AutoDisableChannel',
      channelId: id,
      reason: 'slow',
      substitutes: [],
    } as const
    const context = { actor: 'system:relay', cause: null, at: Date.now() }
    const { actors } = fixture.core
    await actors.handle(channelsDecider, CHANNELS_STREAM, turnedOff, context)
    await expect.poll(async () => (await read(id)).status).toBe(3)
    expect(await put({ id, status: 3, priority: 8 })).toMatchObject({ success: true })
    expect(await read(id)).toMatchObject({ status: 3, priority: 8 })
  })

  it('is not enabled by a complete row that was read before the gateway disabled it', async () => {
    const id = await made()
    const row = await read(id)
    expect(row).toMatchObject({ status: 1, expected_status: 1 })
    const command = {
      type: 'AutoDisableChannel',
      channelId: id,
      reason: 'slow',
      substitutes: [],
    } as const
    const context = { actor: 'system:relay', cause: null, at: Date.now() }
    await fixture.core.actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
    await expect.poll(async () => (await read(id)).status).toBe(3)
    expect((await put({ ...row, priority: 8 })).success).toBe(true)
    const disabled = await read(id)
    expect(disabled).toMatchObject({ status: 3, expected_status: 3, priority: 8 })
    expect((await put({ ...disabled, status: 1 })).success).toBe(true)
    expect(await read(id)).toMatchObject({ status: 1, priority: 8 })
    // A row that was read before the channel was enabled does not disable it again.
    expect((await put({ ...disabled, priority: 9 })).success).toBe(true)
    expect(await read(id)).toMatchObject({ status: 1, priority: 9 })
  })

  it('records who changed it, and by which request', async () => {
    const id = await made()
    const answer = await put({ id, weight: 3 })
    const [event] = (await fixture.core.store.readStream(CHANNELS_STREAM)).slice(-1)
    expect(event?.meta).toMatchObject({
      actor: `user:${fixture.admin.id}`,
      cause: answer.headers['x-request-id'],
    })
    expect(event?.position).toBe(Number(answer.headers['x-position']))
  })
})

describe('deleted channels', () => {
  it('answer 404 after a deletion one by one', async () => {
    const id = await made()
    const remove = () => fixture.admin.call('DELETE', `/api/channel/${id}/`)
    expect((await remove()).success).toBe(true)
    expect(await remove()).toMatchObject({
      status: 404,
      message: '渠道未找到，请刷新页面后重试。',
    })
    expect(await put({ id, weight: 1 })).toMatchObject({ status: 404 })
  })

  it('are counted once each after a deletion of many', async () => {
    const ids = [await made(), await made()]
    const body = { ids: [...ids, ids[0]] }
    const remove = () => fixture.admin.call('POST', '/api/channel/batch', { body })
    expect(await remove()).toMatchObject({ success: true, data: 2 })
    expect(await remove()).toMatchObject({ status: 404, code: 'ChannelUnknown' })
  })

  it('include only the disabled channels when all disabled ones are deleted', async () => {
    await fixture.admin.call('DELETE', '/api/channel/disabled')
    const [off, on] = [await made(), await made()]
    await put({ id: off, status: 2 })
    const answer = await fixture.admin.call('DELETE', '/api/channel/disabled')
    expect(answer).toMatchObject({ success: true, data: 1 })
    expect((await fixture.admin.call('GET', `/api/channel/${off}`)).status).toBe(404)
    expect(await read(on)).toMatchObject({ status: 1 })
  })
})
