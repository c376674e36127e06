import { describe, expect, it, vi } from 'vitest'
import { completeKey, KEY_RANDOM_CHARACTERS } from '#domain/tokens/key-format.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { OPEN_TOKEN_FIELDS } from '#test/support/token-fields.ts'
import { fifty, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

type Made = { readonly id: number; readonly key: string }

const make = (body: object) => fixture.user.call<Made>('POST', '/api/token/', { body })
const read = async (id: number): Promise<Token> =>
  (await fixture.user.call<Token>('GET', `/api/token/${id}`)).data

describe('a new token', () => {
  it('has the defaults of the form, and is in the list at once', async () => {
    const answer = await make({ name: 'plain' })
    const { id, key } = answer.data
    const list = await fixture.user.call<{ items: Token[] }>('GET', '/api/token/?p=0&size=100')
    expect(list.data.items.find((token) => token.id === id)).toMatchObject({
      user_id: 3,
      name: 'plain',
      key,
      status: 1,
      remain_quota: 500_000,
      used_quota: 0,
      ...OPEN_TOKEN_FIELDS,
    })
  })

  it('has a key of 48 characters whose end is a checksum of its start', async () => {
    const { key } = (await make({ name: 'keyed' })).data
    expect(key).toMatch(/^[0-9A-Za-z]{48}$/)
    expect(completeKey(key.slice(0, KEY_RANDOM_CHARACTERS))).toBe(key)
  })

  it('has a unique id in an unbroken sequence when fifty are created at once', async () => {
    const before = (await make({ name: 'before' })).data.id
    const made = await fifty((n) => make({ name: `race ${n}` }))
    expect(made.every(({ success }) => success)).toBe(true)
    const ids = made.map(({ data }) => data.id).sort((one, other) => one - other)
    expect(ids).toEqual(Array.from({ length: 50 }, (_, n) => before + 1 + n))
    expect(new Set(made.map(({ data }) => data.key)).size).toBe(50)
  })

  it.each([
    [{ name: '  ' }, 200, 'TokenNameRequired'],
    [{ name: 'x', remain_quota: -1 }, 400, 'InvalidField'],
    [{ name: 'x', allow_ips: '10.0.0.0/8\n300.1.1.1' }, 400, 'InvalidField'],
    [{ name: 'x', group: 'constructor' }, 200, 'GroupNotUsable'],
    [{ name: 'x', expired_time: -2 }, 400, 'InvalidField'],
    [{ name: 'x'.repeat(101) }, 400, 'InvalidField'],
    [{ name: 'é'.repeat(300) }, 400, 'InvalidField'],
    [{ name: 'e\u0301'.repeat(100) }, 400, 'InvalidField'],
    [{ name: 'x', rate_limit_period: 0 }, 400, 'InvalidField'],
    [{ name: 'x', rate_limit_tpm: -1 }, 400, 'InvalidField'],
    [{ name: 'x', max_concurrency: 1.5 }, 400, 'InvalidField'],
    [{ name: 'x', model_limits_enabled: true }, 400, 'InvalidField'],
    [{ name: 'x', model_limits_enabled: true, model_limits: ' , ' }, 400, 'InvalidField'],
    [{ name: 'x', count: 0 }, 400, 'InvalidField'],
    [{ name: 'x', count: 101 }, 400, 'InvalidField'],
  ])('is refused for %o', async (body, status, code) => {
    const head = await fixture.head()
    expect(await make(body)).toMatchObject({ status, success: false, code })
    expect(await fixture.head()).toBe(head)
  })
})

describe('the allowed IP addresses of a token', () => {
  it.each([
    ['10.0.0.1\n\n300.1.1.1', 3, '300.1.1.1'],
    ['10.0.0.0/33', 1, '10.0.0.0/33'],
    ['10.0.0.1,192.0.2.0/24\r\n2001:db8::/129', 2, '2001:db8::/129'],
    ['fe80::1%eth0', 1, 'fe80::1%eth0'],
    ['example.com', 1, 'example.com'],
  ])('are checked line by line: %j', async (allow_ips, line, text) => {
    const answer = await make({ name: 'bound', allow_ips })
    expect(answer).toMatchObject({ status: 400, code: 'InvalidField' })
    expect(answer.message).toContain(`第 ${line} 行“${text}”不是合法的 IP 地址或网段`)
  })

  it('can be IPv4 and IPv6 addresses and networks', async () => {
    const allow_ips = '10.0.0.1\n192.0.2.0/24\n2001:db8::1\n2001:db8::/32'
    const { id } = (await make({ name: 'bound', allow_ips })).data
    expect(await read(id)).toMatchObject({ allow_ips })
  })
})

describe('an existing token', () => {
  const full = {
    name: 'full',
    remain_quota: 12_345,
    expired_time: 2_000_000_000,
    rate_limit_enabled: true,
    rate_limit_count: 0,
    rate_limit_tpm: 90_000,
    max_concurrency: 4,
    model_limits_enabled: true,
    model_limits: 'gpt-4o,constructor',
    allow_ips: '10.0.0.0/8\n2001:db8::1',
  }

  it('accepts its row as it was read, and writes nothing', async () => {
    const { id } = (await make(full)).data
    const row = await read(id)
    const head = await fixture.head()
    const answer = await fixture.user.call('PUT', '/api/token/', { body: row })
    expect(answer).toMatchObject({ status: 200, success: true })
    expect(await fixture.head()).toBe(head)
    expect(await read(id)).toEqual(row)
  })

  it('changes only in the given fields, and ignores fields that are not editable', async () => {
    const { id, key } = (await make(full)).data
    const body = { id, name: 'renamed', key: 'mine', user_id: 1, used_quota: 9, status: 2 }
    expect((await fixture.user.call('PUT', '/api/token/', { body })).success).toBe(true)
    expect(await read(id)).toMatchObject({
      ...full,
      name: 'renamed',
      key,
      user_id: 3,
      used_quota: 0,
      status: 1,
    })
  })

  it('never expires with -1, expires at a given second, and refuses 0', async () => {
    const { id } = (await make({ name: 'dated', expired_time: -1 })).data
    const put = (expired_time: number) =>
      fixture.user.call('PUT', '/api/token/', { body: { id, expired_time } })
    expect(await read(id)).toMatchObject({ expired_time: -1 })
    const answers = [await put(0), await make({ name: 'dated', expired_time: 0 })]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 400, code: 'InvalidField' })
      expect(answer.message).toContain('expired_time')
    }
    expect(await read(id)).toMatchObject({ expired_time: -1 })
    const over = {
      status: 400,
      code: 'InvalidField',
      message: expect.stringContaining('expired_time'),
    }
    expect([await put(5), await make({ name: 'dated', expired_time: 5 })]).toMatchObject([
      over,
      over,
    ])
    expect((await put(1_893_456_000)).success).toBe(true)
    expect(await read(id)).toMatchObject({ expired_time: 1_893_456_000 })
  })

  it('is disabled and enabled by status_only, which changes nothing else', async () => {
    const { id } = (await make(full)).data
    const put = (status: number) =>
      fixture.user.call('PUT', '/api/token/?status_only=true', { body: { id, status, name: 'x' } })
    await put(2)
    expect(await read(id)).toMatchObject({ status: 2, name: 'full' })
    await put(1)
    expect(await read(id)).toMatchObject({ status: 1 })
    expect(await put(3)).toMatchObject({ status: 400, code: 'InvalidField' })
  })

  it('is not enabled after it has expired, and nothing is written', async () => {
    const body = { ...full, expired_time: Math.floor(Date.now() / 1_000) + 60 }
    const { id } = (await make(body)).data
    vi.spyOn(fixture.core, 'now').mockImplementation(() => Date.now() + 90_000)
    const head = await fixture.head()
    for (const [language, words] of [
      ['zh', '令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期'],
      [
        'en',
        'The token has expired and cannot be enabled. Change its expiry or let it never expire',
      ],
    ] as const) {
      const answer = await fixture.user.call('PUT', '/api/token/?status_only=true', {
        body: { id, status: 1 },
        headers: { 'accept-language': language },
      })
      expect(answer).toMatchObject({ status: 200, success: false, code: 'TokenExpired' })
      expect(answer.message).toBe(words)
    }
    expect(await fixture.head()).toBe(head)
    await fixture.user.call('PUT', '/api/token/', { body: { id, expired_time: -1 } })
    const put = await fixture.user.call('PUT', '/api/token/?status_only=true', {
      body: { id, status: 1 },
    })
    expect(put.success).toBe(true)
    vi.restoreAllMocks()
  })

  it('is answered as unknown after its deletion', async () => {
    const { id } = (await make(full)).data
    const remove = () => fixture.user.call('DELETE', `/api/token/${id}/`)
    expect((await remove()).success).toBe(true)
    expect((await remove()).status).toBe(404)
    expect((await fixture.user.call('GET', `/api/token/${id}`)).status).toBe(404)
  })

  it('is answered as unknown to other users', async () => {
    const { id } = (await make(full)).data
    const { call } = fixture.root
    const head = await fixture.head()
    const answers = await Promise.all([
      call('PUT', '/api/token/', { body: { id, name: 'taken' } }),
      call('PUT', '/api/token/?status_only=true', { body: { id, status: 2 } }),
      call('DELETE', `/api/token/${id}/`),
      call('PUT', '/api/token/', { body: { id: 999_999, name: 'none' } }),
    ])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
    expect(new Set(answers.map(({ message }) => message)).size).toBe(1)
    expect(await fixture.head()).toBe(head)
  })

  it('keeps all changes that are made at once', async () => {
    const { id } = (await make({ name: 'both' })).data
    await Promise.all([
      fixture.user.call('PUT', '/api/token/', { body: { id, rate_limit_period: 7 } }),
      fixture.user.call('PUT', '/api/token/', { body: { id, remain_quota: 77 } }),
      fixture.user.call('PUT', '/api/token/', { body: { id, expired_time: 2_100_000_000 } }),
    ])
    expect(await read(id)).toMatchObject({
      rate_limit_period: 7,
      remain_quota: 77,
      expired_time: 2_100_000_000,
    })
  })
})
