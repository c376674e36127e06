import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ShortLivedUnavailable } from '#infra/limits/short-lived-values.ts'
import { VaultBusy } from '#infra/vault/port.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { entryFixture } from './entry-fixture.ts'
import { fifty, PASSWORD } from './write-fixture.ts'

const EMAIL = 'user1@example.com'

const fixture = startedOnce(entryFixture)
beforeAll(async () => {
  const code = await fixture.codeFor(EMAIL, fixture.user.call)
  const query = new URLSearchParams({ email: EMAIL, code })
  await fixture.user.call('GET', `/api/oauth/email/bind?${query}`)
  await fixture.put('ServerAddress', 'https://gate.example/')
})
beforeEach(() => fixture.anHourLater())

const ask = (email: string, headers: Record<string, string> = {}) =>
  fixture.anybody('GET', `/api/reset_password?${new URLSearchParams({ email })}`, { headers })
const reset = (email: string, token: string) =>
  fixture.anybody<string>('POST', '/api/user/reset', { body: { email, token } })
const linkIn = (text: string): URL => new URL(/https?:\S+/.exec(text)?.[0] ?? '')

async function tokenFor(email: string): Promise<string> {
  expect((await ask(email)).success).toBe(true)
  return linkIn((await fixture.server.mailTo(email)).text).searchParams.get('token') ?? ''
}

describe('requesting a password reset', () => {
  it('mails a link to the configured address of the site', async () => {
    expect(await ask(' User1@Example.com ')).toMatchObject({ status: 200, success: true })
    const mail = await fixture.server.mailTo(EMAIL)
    const link = linkIn(mail.text)
    expect([link.origin, link.pathname]).toEqual(['https://gate.example', '/user/reset'])
    expect(link.searchParams.get('email')).toBe(EMAIL)
    expect(link.searchParams.get('token')).toMatch(/^[\w-]{43}$/)
    expect(mail.raw).toContain('text/html')
  })

  it('gives the same answer for an unknown address, and mails nothing', async () => {
    const before = fixture.server.mails.length
    const [known, unknown] = [await ask(EMAIL), await ask('nobody@example.com')]
    expect([unknown.status, unknown.success, unknown.message]).toEqual([
      known.status,
      known.success,
      known.message,
    ])
    await fixture.server.mailTo(EMAIL)
    expect(fixture.server.mails.slice(before).map(({ to }) => to)).toEqual([[EMAIL]])
    expect(await ask('nobody@example.com')).toMatchObject({ status: 429 })
  })

  it('is refused for all addresses alike while links cannot be stored', async () => {
    const away = vi
      .spyOn(fixture.core.shortLived, 'peek')
      .mockRejectedValue(new ShortLivedUnavailable())
    for (const email of [EMAIL, 'nobody@example.com']) {
      expect(await ask(email)).toMatchObject({ status: 503, code: 'Unavailable' })
    }
    away.mockRestore()
    expect(await ask(EMAIL)).toMatchObject({ status: 200, success: true })
    await fixture.server.mailTo(EMAIL)
  })

  it('never links to a host that the caller made up', async () => {
    await fixture.put('ServerAddress', '')
    expect(await ask(EMAIL, { host: 'evil.example' })).toMatchObject({
      code: 'ServerAddressRequired',
    })
    for (const host of ['localhost:x@evil.example', 'localhost@evil.example', 'x@localhost', '[']) {
      expect(await ask(EMAIL, { host })).toMatchObject({ code: 'ServerAddressRequired' })
    }
    expect((await ask(EMAIL, { host: 'localhost:4000' })).success).toBe(true)
    const { text } = await fixture.server.mailTo(EMAIL)
    expect(linkIn(text).origin).toBe('http://localhost:4000')
    await fixture.put('ServerAddress', 'https://gate.example/')
  })

  it('is refused without an address and without a mail server', async () => {
    expect(await ask('')).toMatchObject({ message: '请输入邮箱！' })
    expect(await ask('x')).toMatchObject({ message: '邮箱地址格式错误' })
    await fixture.put('SMTPServer', '')
    expect(await ask(EMAIL)).toMatchObject({ message: '管理员尚未配置邮件服务器' })
    await fixture.put('SMTPServer', '127.0.0.1')
  })
})

/** Routes that would grant access beyond the life of the temporary password. */
const TO_COME_BACK_BY = [
  ['GET', '/api/user/token'],
  ['POST', '/api/token/'],
  ['GET', '/api/token/'],
  ['POST', '/api/user/passkeys/begin'],
  ['POST', '/api/user/totp/begin'],
  ['GET', '/api/oauth/email/bind?email=a@example.com&code=123456'],
  ['GET', '/api/oauth/state'],
] as const

describe('a password reset', () => {
  it('answers a temporary password once, ends every session, and requires a change', async () => {
    const token = await tokenFor(EMAIL)
    const session = await fixture.logIn('user1')
    const answers = await fifty(() => reset(EMAIL, token))
    const done = answers.filter(({ success }) => success)
    expect(done).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'ResetLinkInvalid')).toHaveLength(49)
    const password = done[0]?.data ?? ''
    expect(password).toMatch(/^[A-Za-z0-9]{16}$/)
    expect(done[0]?.headers['cache-control']).toContain('no-store')
    expect((await session.call('GET', '/api/user/self')).status).toBe(401)

    await expect(fixture.logIn('user1', PASSWORD)).rejects.toThrow('用户名或密码错误')
    const login = () =>
      fixture.anybody('POST', '/api/user/login', { body: { username: EMAIL, password } })
    expect(await login()).toMatchObject({ data: { id: 3, must_change_password: true } })

    const { call } = await fixture.logIn('user1', password)
    const head = await fixture.head()
    for (const [method, path] of TO_COME_BACK_BY) {
      expect(await call(method, path, method === 'GET' ? {} : { body: {} })).toMatchObject({
        status: 403,
        code: 'PasswordNotOwn',
      })
    }
    expect(await fixture.head()).toBe(head)
    expect((await call('GET', '/api/user/self')).success).toBe(true)
    const same = { password, original_password: password }
    expect((await call('PUT', '/api/user/self', { body: same })).code).toBe('PasswordUnchanged')
    const change = { password: PASSWORD, original_password: password }
    expect((await call('PUT', '/api/user/self', { body: change })).success).toBe(true)
    const own = await fixture.logIn('user1', PASSWORD)
    expect((await own.call('GET', '/api/user/token')).success).toBe(true)
    const body = { username: 'user1', password: PASSWORD }
    const { data } = await fixture.anybody('POST', '/api/user/login', { body })
    expect(data).not.toHaveProperty('must_change_password')
  })

  it.each([
    ['another token', async () => reset(EMAIL, 'x'.repeat(43))],
    ['another address', async () => reset('other@example.com', await tokenFor(EMAIL))],
    ['no token', async () => reset(EMAIL, '')],
  ])('is refused for %s', async (_, attempt) => {
    expect(await attempt()).toMatchObject({
      status: 200,
      success: false,
      message: '重置链接非法或已过期',
    })
  })

  it('is refused after 15 minutes', async () => {
    const token = await tokenFor(EMAIL)
    fixture.clock.ahead += 15 * 60_000 + 1
    expect(await reset(EMAIL, token)).toMatchObject({ code: 'ResetLinkInvalid' })
  })

  it('is refused once the password was changed', async () => {
    const token = await tokenFor(EMAIL)
    const body = { id: 3, password: PASSWORD }
    expect((await fixture.root.call('PUT', '/api/user/', { body })).success).toBe(true)
    expect(await reset(EMAIL, token)).toMatchObject({ code: 'ResetLinkInvalid' })
  })

  it('keeps its link valid if too many passwords wait to be hashed', async () => {
    const token = await tokenFor(EMAIL)
    const { vault } = fixture.core
    const busy = vi.spyOn(vault, 'hashPassword').mockRejectedValueOnce(new VaultBusy())
    expect((await reset(EMAIL, token)).status).toBe(503)
    expect((await reset(EMAIL, 'x'.repeat(43))).code).toBe('ResetLinkInvalid')
    expect(busy).toHaveBeenCalledTimes(1)
    busy.mockRestore()
    expect((await reset(EMAIL, token)).success).toBe(true)
    const body = { id: 3, password: PASSWORD }
    expect((await fixture.root.call('PUT', '/api/user/', { body })).success).toBe(true)
  })

  it('is refused after the address was unbound or replaced', async () => {
    const { call } = await fixture.logIn('user1')
    const bind = async (email: string) => {
      const query = new URLSearchParams({ email, code: await fixture.codeFor(email, call) })
      expect((await call('GET', `/api/oauth/email/bind?${query}`)).success).toBe(true)
    }
    const ofFirst = await tokenFor(EMAIL)
    await bind('second@example.com')
    expect(await reset(EMAIL, ofFirst)).toMatchObject({ code: 'ResetLinkInvalid' })
    const ofSecond = await tokenFor('second@example.com')
    const body = { provider: 'email' }
    expect((await call('POST', '/api/user/unbind', { body })).success).toBe(true)
    expect(await reset('second@example.com', ofSecond)).toMatchObject({ code: 'ResetLinkInvalid' })
    await bind(EMAIL)
  })

  it('keeps the token and the password out of events', async () => {
    const token = await tokenFor(EMAIL)
    const password = (await reset(EMAIL, token)).data
    const { rows } = await fixture.core.pg.query<{ text: string }>(
      `select string_agg(e::text, ' ') as text from event_store.events e`,
    )
    for (const secret of [token, password, EMAIL]) expect(rows[0]?.text).not.toContain(secret)
  })
})
