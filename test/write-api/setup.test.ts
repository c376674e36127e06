import { describe, expect, it } from 'vitest'
import { startedForEach, startedOnce } from '#test/support/started-by-hook.ts'
import { fifty, PASSWORD, writeFixture } from './write-fixture.ts'

const body = { username: 'root', password: PASSWORD, confirmPassword: PASSWORD }
const elsewhere = { host: 'tallygate.example' }

describe('the first run', () => {
  const fixture = startedForEach(writeFixture)

  it('creates the super admin with 100 000 000 quota, who can log in at once', async () => {
    const answer = await fixture.setUp({ SelfUseModeEnabled: true })
    expect(answer).toMatchObject({
      ...{ status: 200, success: true },
      data: { id: 1, username: 'root', role: 100 },
    })
    expect(String(answer.headers['set-cookie'])).toMatch(/(^|,)session=.+HttpOnly/)
    expect(Number(answer.headers['x-position'])).toBe(await fixture.head())
    const root = await fixture.logIn('root')
    expect(await root.call('GET', '/api/user/self')).toMatchObject({
      data: { id: 1, username: 'root', role: 100, status: 1, quota: 100_000_000 },
    })
    expect(await root.call('GET', '/api/status')).toMatchObject({
      data: { setup: true, self_use_mode_enabled: true, demo_site_enabled: false },
    })
  })

  it('is refused after it succeeded once, and changes nothing', async () => {
    await fixture.setUp()
    const head = await fixture.head()
    const again = await fixture.setUp({ username: 'other' })
    expect(again).toMatchObject({ status: 200, success: false, code: 'AlreadyInitialized' })
    expect(again.headers['set-cookie']).toBeUndefined()
    expect(await fixture.head()).toBe(head)
  })

  it('precedes all registrations, so that the first account owns the site', async () => {
    const body = { username: 'root', password: PASSWORD, password2: PASSWORD }
    const early = await fixture.anybody('POST', '/api/user/register', { body })
    expect(early).toMatchObject({ success: false, code: 'RegistrationClosed' })
    expect(await fixture.setUp()).toMatchObject({ success: true })
    expect((await fixture.logIn('root')).id).toBe(1)
  })

  it('creates one super admin when fifty run at once', async () => {
    const answers = await fifty((n) => fixture.setUp({ username: `root${n}` }))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const others = answers.filter(({ success }) => !success)
    expect(new Set(others.map(({ code }) => code))).toEqual(new Set(['AlreadyInitialized']))
    const events = await fixture.core.store.readAll(0, 1_000)
    expect(events.filter(({ type }) => type === 'UserCreated')).toHaveLength(1)
  })
})

// A refused setup changes nothing, so these tests share a site.
describe('a setup that is not allowed', () => {
  const fixture = startedOnce(writeFixture)

  it.each([
    [{ password: 'short', confirmPassword: 'short' }, '密码长度不得小于 8 位！'],
    [{ confirmPassword: 'another one' }, '两次输入的密码不一致'],
    [{ username: '   ' }, '用户名不能为空！'],
    [{ username: 'thirteenchars' }, '用户名长度不得超过 12 位！'],
    [
      { password: '密'.repeat(129), confirmPassword: '密'.repeat(129) },
      '密码长度不得超过 128 位！',
    ],
  ])('refuses %o with the message for the setup page', async (fields, message) => {
    const head = await fixture.head()
    const answer = await fixture.setUp(fields)
    expect(answer).toMatchObject({ status: 200, success: false })
    expect(answer.message).toContain(message)
    expect(await fixture.head()).toBe(head)
  })

  it.each([
    ['another name for this host', { host: 'tallygate.example' }],
    ['a proxy on this machine', { host: 'localhost', 'x-forwarded-for': '203.0.113.7' }],
  ])('is refused without the token: %s', async (_name, headers) => {
    const answer = await fixture.anybody('POST', '/api/setup', { body, headers })
    expect(answer).toMatchObject({ status: 200, success: false, code: 'SetupTokenRequired' })
    const wrong = { ...headers, 'x-setup-token': 'A'.repeat(32) }
    expect(await fixture.anybody('POST', '/api/setup', { body, headers: wrong })).toMatchObject({
      code: 'SetupTokenRequired',
    })
    expect(await fixture.head()).toBe(0)
  })
})

describe('the limits of the setup form', () => {
  const fixture = startedForEach(writeFixture)

  it('count characters, not bytes, and ignore the spaces around a name', async () => {
    const password = '🔑'.repeat(128)
    const fields = { username: '  管理员一二三四五六七八九  ', password, confirmPassword: password }
    expect(await fixture.setUp(fields)).toMatchObject({ status: 200, success: true })
    const root = await fixture.logIn('管理员一二三四五六七八九', password)
    expect(await root.call('GET', '/api/user/self')).toMatchObject({ data: { id: 1 } })
  })
})

describe('the first run from another machine', () => {
  const fixture = startedForEach(writeFixture)
  const token = () => /token=([\w-]{32}) /.exec(fixture.printedLines.join('\n'))?.[1] ?? ''

  it.each(['header', 'field', 'query'])('works with the printed token as %s', async (place) => {
    const headers = { ...elsewhere, ...(place === 'header' ? { 'x-setup-token': token() } : {}) }
    const url = place === 'query' ? `/api/setup?token=${token()}` : '/api/setup'
    const fields = place === 'field' ? { ...body, setup_token: token() } : body
    const answer = await fixture.anybody('POST', url, { body: fields, headers })
    expect(answer.success).toBe(true)
  })
})
