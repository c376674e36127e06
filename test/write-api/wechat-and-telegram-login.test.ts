import { describe, expect, it } from 'vitest'
import type { User } from '#read-api/contract/users.ts'
import { BOT_TOKEN, telegramSays } from '#test/support/simulated-login-sites.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { oauthFixture } from './oauth-fixture.ts'
import { fifty } from './write-fixture.ts'

const fixture = startedOnce(oauthFixture)

const read = async (id: number): Promise<User> =>
  (await fixture.root.call<User>('GET', `/api/user/${id}`)).data

describe('login by WeChat', () => {
  it('accepts a code, and finds the account again with the next code', async () => {
    fixture.sites.weChatCodes.set('111111', 'openid-1').set('222222', 'openid-1')
    const first = await fixture
      .visitor()
      .get<{ id: number }>('/api/oauth/wechat', { code: '111111' })
    expect(first).toMatchObject({
      success: true,
      data: { username: expect.stringMatching(/^wechat\d{4}$/) },
    })
    expect(await read(first.data.id)).toMatchObject({ wechat_id: 'openid-1' })
    const again = await fixture.visitor().get('/api/oauth/wechat', { code: '222222' })
    expect(again.data).toMatchObject({ id: first.data.id })
    const bind = '/api/oauth/wechat/bind?code=111111'
    expect(await fixture.user.call('GET', bind)).toMatchObject({ code: 'IdentityTaken' })
  })

  it('binds an account to a user with a code', async () => {
    fixture.sites.weChatCodes.set('333333', 'openid-3')
    const answer = await fixture.user.call('GET', '/api/oauth/wechat/bind?code=333333')
    expect(answer).toMatchObject({ success: true, message: 'bind' })
    expect(await read(fixture.user.id)).toMatchObject({ wechat_id: 'openid-3' })
  })

  it('allows five wrong codes in three minutes from one IP address', async () => {
    const answers = await fifty((n) =>
      fixture.visitor().get('/api/oauth/wechat', { code: `9999${n}` }),
    )
    expect(answers.filter(({ code }) => code === 'WeChatCodeWrong')).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(45)
    fixture.clock.ahead += 181_000
    expect((await fixture.visitor().get('/api/oauth/wechat', { code: '111111' })).success).toBe(
      true,
    )
  })

  it('allows a hundred wrong codes on the whole site, from many IP addresses', async () => {
    const from = (remoteAddress: string, code: string) =>
      fixture.app.inject({ url: `/api/oauth/wechat?code=${code}`, remoteAddress })
    const wrong = await Promise.all(
      Array.from({ length: 120 }, (_, n) => from(`2001:db8:0:${n.toString(16)}::1`, `8${n}`)),
    )
    expect(wrong.filter(({ statusCode }) => statusCode === 429)).toHaveLength(20)
    fixture.clock.ahead += 181_000
    const ofOneLine = await Promise.all(
      Array.from({ length: 8 }, (_, n) => from(`2001:db8::${n}`, `7${n}`)),
    )
    expect(ofOneLine.filter(({ statusCode }) => statusCode === 429)).toHaveLength(3)
    expect((await from('2001:db8:0:1::1', '111111')).json()).toMatchObject({ success: true })
    fixture.clock.ahead += 181_000
  })

  it('is refused to a browser that opens the login link as a page', async () => {
    const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' }
    const opened = await fixture.visitor().get('/api/oauth/wechat', { code: '111111' }, headers)
    expect(opened).toMatchObject({ status: 403, code: 'CrossSite' })
    expect(opened.headers['set-cookie']).toBeUndefined()
  })

  it('reports a failure of the WeChat server, and a disabled login', async () => {
    const ask = () => fixture.visitor().get('/api/oauth/wechat', { code: '111111' })
    fixture.sites.instead.set('/api/wechat/user', { status: 502, body: 'down' })
    expect(await ask()).toMatchObject({ code: 'OAuthFailed' })
    fixture.sites.instead.clear()
    await fixture.set({ WeChatAuthEnabled: 'false' })
    expect(await ask()).toMatchObject({ message: '管理员未开启通过微信登录以及注册' })
  })
})

const fields = (id: string, more: Readonly<Record<string, string>> = {}) => ({
  id,
  first_name: 'Ann',
  username: 'ann_tg',
  auth_date: String(Math.floor(fixture.core.now() / 1_000)),
  ...more,
})

describe('login by Telegram', () => {
  const login = (query: Readonly<Record<string, string>>) =>
    fixture.visitor().get<{ id: number }>('/api/oauth/telegram/login', query)

  it('accepts the user in the signed data, and finds the account again', async () => {
    const first = await login(telegramSays(fields('77')))
    expect(first).toMatchObject({ success: true, data: { username: 'ann_tg' } })
    expect(await read(first.data.id)).toMatchObject({ telegram_id: '77', display_name: 'Ann' })
    const again = await login(telegramSays(fields('77', { lang: 'zh', photo_url: 'https://t/p' })))
    expect(again.data).toMatchObject({ id: first.data.id })
    const beside = await login({ ...telegramSays(fields('77', { last_name: 'L' })), lang: 'en' })
    expect(beside.data).toMatchObject({ id: first.data.id })
  })

  it('is refused to a browser that opens the login link as a page', async () => {
    const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' }
    const said = telegramSays(fields('77', { first_name: 'Linked' }))
    const opened = await fixture.visitor().get('/api/oauth/telegram/login', said, headers)
    expect(opened).toMatchObject({ status: 403, code: 'CrossSite' })
    expect((await login(said)).success).toBe(true)
  })

  it('refuses data that is forged, changed, old or from the future', async () => {
    const now = Math.floor(fixture.core.now() / 1_000)
    for (const query of [
      telegramSays(fields('77'), `${BOT_TOKEN}x`),
      { ...telegramSays(fields('77')), id: '78' },
      { ...telegramSays(fields('77')), first_name: 'Root' },
      telegramSays(fields('77', { auth_date: String(now - 301) })),
      telegramSays(fields('77', { auth_date: String(now + 120) })),
    ]) {
      expect(await login(query)).toMatchObject({ status: 200, code: 'TelegramInvalid' })
    }
    expect((await login(fields('77') as never)).status).toBe(400)
  })

  it('accepts signed data once when fifty requests send it at once', async () => {
    const said = telegramSays(fields('88', { username: 'once' }))
    const answers = await fifty(() => login(said))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'TelegramInvalid')).toHaveLength(49)
  })

  it('binds an account with a state issued for binding, even in a navigation', async () => {
    const visitor = fixture.visitor(fixture.user)
    const bind = (query: Record<string, string>, headers: Record<string, string> = {}) =>
      visitor.get('/api/oauth/telegram/bind', query, headers)
    const state = async () => (await visitor.get<string>('/api/oauth/state')).data
    expect(await bind(telegramSays(fields('99')))).toMatchObject({ code: 'OAuthStateInvalid' })
    const bound = await bind({ ...telegramSays(fields('99')), state: await state() })
    expect(bound).toMatchObject({ success: true, message: 'bind' })
    expect(await read(fixture.user.id)).toMatchObject({ telegram_id: '99' })

    const another = await bind({ ...telegramSays(fields('100')), state: await state() })
    expect(another).toMatchObject({ code: 'ProviderBound' })
    expect(another.message).toBe('您已绑定另一个 Telegram 账户，请先解绑')
    await fixture.user.call('POST', '/api/user/unbind', { body: { provider: 'telegram' } })
    const said = { ...telegramSays(fields('102')), state: await state() }
    visitor.userId = null
    const sent = await bind(said, { 'sec-fetch-mode': 'navigate' }).catch((error) => error)
    expect(await read(fixture.user.id)).toMatchObject({ telegram_id: '102' })
    expect(sent).toBeInstanceOf(SyntaxError)
    // A state for logging in does not allow binding, even in the same browser.
    const other = (await visitor.get<string>('/api/oauth/state', { intent: 'login' })).data
    const wrong = await bind({ ...telegramSays(fields('101')), state: other })
    expect(wrong).toMatchObject({ code: 'OAuthStateInvalid' })
  })

  it('refuses a login with a state that was issued for binding', async () => {
    const visitor = fixture.visitor(fixture.admin)
    const { data: state } = await visitor.get<string>('/api/oauth/state')
    const query = { ...telegramSays(fields('102', { username: 'other' })), state }
    const answer = await visitor.get('/api/oauth/telegram/login', query)
    expect(answer).toMatchObject({ code: 'OAuthStateInvalid' })
    await fixture.set({ TelegramOAuthEnabled: 'false' })
    expect(await login(telegramSays(fields('103')))).toMatchObject({ code: 'WayInClosed' })
  })
})
