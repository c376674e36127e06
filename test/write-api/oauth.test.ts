import { describe, expect, it } from 'vitest'
import type { Status } from '#read-api/contract/status.ts'
import type { User } from '#read-api/contract/users.ts'
import { OIDC_CLIENT } from '#test/support/oidc-provider.ts'
import { SITE_CLIENT } from '#test/support/simulated-login-sites.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { oauthFixture } from './oauth-fixture.ts'
import { fifty } from './write-fixture.ts'

const fixture = startedOnce(oauthFixture)

const read = async (id: number): Promise<User> =>
  (await fixture.root.call<User>('GET', `/api/user/${id}`)).data

const USERS = '/api/user/?p=0'

/** Makes the scripted providers log in a new account next. */
let accounts = 100
const newAccount = (login: string) => {
  accounts += 1
  fixture.sites.who = { id: accounts, login, name: `${login}’s name` }
  return String(accounts)
}

describe.each(['github', 'linuxdo'] as const)('login with %s', (type) => {
  it('creates an account at the first login, and finds it after a name change', async () => {
    await fixture.set({ QuotaForNewUser: '777' })
    const id = newAccount(`${type}-newcomer`)
    const visitor = fixture.visitor()
    const first = await visitor.comeBy(type)
    expect(first).toMatchObject({ success: true, message: '' })
    const user = await read(first.data?.id ?? 0)
    expect(user).toMatchObject({ quota: 777, role: 1, display_name: `${type}-newcomer’s name` })
    expect(user.username).toBe(`${type}-newcomer`.slice(0, 12))
    expect([user.github_id, user.linux_do_id]).toContain(id)
    visitor.userId = String(user.id)
    expect((await visitor.get('/api/user/self')).success).toBe(true)

    fixture.sites.who = { id: Number(id), login: 'renamed', name: null }
    const again = await fixture.visitor().comeBy(type)
    expect(again.data).toMatchObject({ id: user.id, username: user.username })
  })

  it('keeps users apart who have the same login name at the provider', async () => {
    newAccount('same-name')
    const one = await fixture.visitor().comeBy(type)
    newAccount('same-name')
    const other = await fixture.visitor().comeBy(type)
    expect(other.data?.id).not.toBe(one.data?.id)
    expect(other.data?.username).toMatch(/^same-nam\d{4}$/)
  })

  it('gives a user whose name mixes alphabets another username', async () => {
    // The second letter is Greek.
    newAccount('rοot')
    const { data } = await fixture.visitor().comeBy(type)
    expect(data?.username).toMatch(new RegExp(`^${type}\\w*\\d{4}$`))
  })

  it('binds the identity to the logged-in user, and to no second user', async () => {
    const id = newAccount('bindable')
    const visitor = fixture.visitor(fixture.user)
    expect(await visitor.comeBy(type)).toMatchObject({ success: true, message: 'bind', data: null })
    expect(Object.values(await read(fixture.user.id))).toContain(id)
    const other = fixture.visitor(fixture.admin)
    expect(await other.comeBy(type, { intent: 'bind' })).toMatchObject({ code: 'IdentityTaken' })
  })

  it('accepts a relogin only with the identity of the logged-in user', async () => {
    const id = newAccount('again')
    const visitor = fixture.visitor()
    const first = await visitor.comeBy(type)
    await expect(visitor.travel(type, { intent: 'anew' })).rejects.toThrow('未登录')
    visitor.userId = String(first.data?.id)
    newAccount('somebody-else')
    const { sites } = fixture
    const users = async () => (await fixture.root.call<{ total: number }>('GET', USERS)).data.total
    const before = await users()
    expect(await visitor.comeBy(type, { intent: 'anew' })).toMatchObject({ code: 'OAuthOther' })
    expect([await users(), (await visitor.get('/api/user/self')).success]).toEqual([before, true])
    sites.who = { id: Number(id), login: 'again', name: null }
    const again = await visitor.comeBy(type, { intent: 'anew' })
    expect(again.data).toMatchObject({ id: first.data?.id })
  })

  it('fails if the provider does not confirm the user, and follows no redirect', async () => {
    newAccount('refused')
    const { sites } = fixture
    for (const [path, instead] of [
      [`/${type}/token`, { status: 200, body: '{"error":"bad_verification_code"}' }],
      [`/${type}/token`, { status: 500, body: 'down' }],
      [`/${type}/token`, { status: 302, location: `${sites.url}/elsewhere` }],
      [`/${type}/user`, { status: 200, body: '{"id":"1","login":"text-id"}' }],
      [`/${type}/user`, { status: 200, body: '[' }],
      [`/${type}/user`, { status: 200, body: `{"id":1,"x":"${'y'.repeat(600_000)}"}` }],
    ] as const) {
      sites.instead.set(path, instead)
      const answer = await fixture.visitor().comeBy(type)
      expect(answer).toMatchObject({ status: 200, success: false, code: 'OAuthFailed' })
      sites.instead.clear()
    }
    expect(sites.requests).not.toContain('/elsewhere')
  })
})

describe('login with a real OpenID provider', () => {
  it('creates an account at the first login, and finds it again', async () => {
    fixture.oidc.who = 'ann'
    const first = await fixture.visitor().comeBy('oidc')
    expect(first).toMatchObject({ success: true, data: { username: 'ann' } })
    expect(await read(first.data?.id ?? 0)).toMatchObject({
      oidc_id: 'ann',
      display_name: 'Name of ann',
    })
    expect((await fixture.visitor().comeBy('oidc')).data?.id).toBe(first.data?.id)
  })

  it('binds an identity, and unbinds it if the user has another login method', async () => {
    fixture.oidc.who = 'ben'
    const visitor = fixture.visitor(fixture.user)
    expect(await visitor.comeBy('oidc', { intent: 'bind' })).toMatchObject({ message: 'bind' })
    const unbind = (provider: string) =>
      fixture.user.call('POST', '/api/user/unbind', { body: { provider } })
    expect(await unbind('oidc')).toMatchObject({ success: true })
    expect(await read(fixture.user.id)).toMatchObject({ oidc_id: '' })
    expect((await unbind('oidc')).success).toBe(true)
    expect((await unbind('everything')).status).toBe(400)
    // The identity is free again: another user may log in with it, as their only login method.
    const comer = fixture.visitor()
    const { data } = await comer.comeBy('oidc')
    expect(data?.id).not.toBe(fixture.user.id)
  })

  it('needs a state issued for the same attempt, with its nonce and verifier', async () => {
    const visitor = fixture.visitor()
    const { code } = await visitor.travel('oidc')
    const { data: state } = await visitor.get<string>('/api/oauth/state')
    const answer = await visitor.get('/api/oauth/oidc', { code, state })
    expect(answer).toMatchObject({ success: false, code: 'OAuthStateInvalid' })
    // The code belongs to another login attempt, so its verifier and nonce do not match.
    const mine = await visitor.travel('oidc')
    const swapped = { ...(await visitor.travel('oidc')), code: mine.code }
    expect(await visitor.get('/api/oauth/oidc', swapped)).toMatchObject({ code: 'OAuthFailed' })
  })

  it('reports a provider that is not set up or cannot be reached', async () => {
    const { wellKnown } = fixture.oidc
    const ask = () => fixture.visitor().get('/api/oauth/authorize', { type: 'oidc' })
    await fixture.set({ 'oidc.well_known': '' })
    expect(await ask()).toMatchObject({ code: 'OAuthNotSetUp' })
    await fixture.set({ 'oidc.well_known': `${fixture.sites.url}/.well-known/x` })
    expect(await ask()).toMatchObject({ code: 'OAuthFailed' })
    const path = '/.well-known/openid-configuration'
    const body = JSON.stringify({ issuer: fixture.sites.url, jwks_uri: fixture.sites.url })
    fixture.sites.instead.set(path, { status: 200, body, type: 'application/json' })
    await fixture.set({ 'oidc.well_known': `${fixture.sites.url}${path}` })
    expect(await ask()).toMatchObject({ status: 200, code: 'OAuthFailed' })
    fixture.sites.instead.clear()
    await fixture.set({ 'oidc.well_known': 'http://169.254.169.254/.well-known/x' })
    expect(await ask()).toMatchObject({ code: 'OAuthFailed' })
    await fixture.set({ 'oidc.well_known': wellKnown, ServerAddress: '' })
    expect(await ask()).toMatchObject({ code: 'OAuthNotSetUp' })
    await fixture.set({ ServerAddress: 'http://tallygate.example/' })
    expect((await ask()).success).toBe(true)
  })
})

describe('an OAuth state', () => {
  it('works once when fifty requests use it at once', async () => {
    newAccount('fifty-times')
    const visitor = fixture.visitor()
    const back = await visitor.travel('github')
    const answers = await fifty(() => visitor.get('/api/oauth/github', back))
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const codes = new Set(answers.filter(({ success }) => !success).map(({ code }) => code))
    expect(codes).toEqual(new Set(['OAuthStateInvalid']))
  })

  it('is valid in one browser, for one provider and for ten minutes', async () => {
    newAccount('somewhere-else')
    const visitor = fixture.visitor()
    const stolen = await visitor.travel('github')
    const invalid = { status: 200, success: false, code: 'OAuthStateInvalid' }
    expect(await fixture.visitor().get('/api/oauth/github', stolen)).toMatchObject(invalid)
    const other = await visitor.travel('github')
    expect(await visitor.get('/api/oauth/linuxdo', other)).toMatchObject(invalid)
    const late = await visitor.travel('github')
    const made = { code: 'x', state: 'made-up' }
    expect(await visitor.get('/api/oauth/github', made)).toMatchObject(invalid)
    fixture.clock.ahead += 601_000
    expect(await visitor.get('/api/oauth/github', late)).toMatchObject(invalid)
  })

  it('is valid only in the session that it was issued in, if it is for binding', async () => {
    newAccount('not-for-you')
    const visitor = fixture.visitor(fixture.user)
    const back = await visitor.travel('github', { intent: 'bind' })
    visitor.userId = null
    expect((await visitor.get('/api/oauth/github', back)).status).toBe(401)
    const nobody = fixture.visitor()
    const query = { type: 'github', intent: 'bind' }
    expect((await nobody.get('/api/oauth/authorize', query)).status).toBe(401)
  })

  it('from /api/oauth/state works in a client-built address and carries the inviter', async () => {
    await fixture.set({ AffEnabled: 'true' })
    const aff = (await fixture.user.call<string>('GET', '/api/user/aff')).data
    newAccount('invited')
    const visitor = fixture.visitor()
    const { data: state } = await visitor.get<string>('/api/oauth/state', { aff })
    const to = `${fixture.sites.url}/github/authorize?state=${state}&redirect_uri=http://x/`
    const answer = await fetch(to, { redirect: 'manual' })
    const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const { data } = await visitor.get<{ id: number }>('/api/oauth/github', { code, state })
    expect(await read(data.id)).toMatchObject({ inviter_id: fixture.user.id })
  })

  it('is refused after too many requests for states', async () => {
    const answers = await fifty(() => fixture.visitor().get('/api/oauth/state'))
    expect(answers.some(({ status }) => status === 429)).toBe(true)
    fixture.clock.ahead += 61_000
  })
})

describe('the site’s status', () => {
  it('names the login methods that are on and fully configured, and no secret', async () => {
    const read = async () => (await fixture.anybody<Status>('GET', '/api/status')).data
    expect(await read()).toMatchObject({
      github_oauth: true,
      github_client_id: SITE_CLIENT.id,
      oidc_enabled: true,
      oidc_client_id: OIDC_CLIENT.id,
      linuxdo_oauth: true,
      linuxdo_client_id: SITE_CLIENT.id,
      telegram_oauth: true,
      telegram_bot_name: 'tallygate_bot',
      wechat_login: true,
    })
    expect(JSON.stringify(await read())).not.toContain('secret')
    await fixture.set({ GitHubClientId: '', WeChatAuthEnabled: 'false' })
    expect(await read()).toMatchObject({ github_oauth: false, wechat_login: false })
    await fixture.set({ GitHubClientId: SITE_CLIENT.id })
  })
})

describe('an OAuth login', () => {
  it('depends on the options, and on a ban or deletion of the user', async () => {
    newAccount('banned-one')
    const { data } = await fixture.visitor().comeBy('github')
    const manage = (action: string) =>
      fixture.root.call('POST', '/api/user/manage', { body: { id: data?.id, action } })
    await manage('disable')
    const banned = await fixture.visitor().comeBy('github')
    expect(banned).toMatchObject({ success: false, message: '用户已被封禁' })
    await manage('delete')
    expect(await fixture.visitor().comeBy('github')).toMatchObject({ code: 'UserDeactivated' })

    newAccount('too-late')
    await fixture.set({ RegisterEnabled: 'false' })
    expect(await fixture.visitor().comeBy('github')).toMatchObject({
      success: false,
      code: 'RegistrationClosed',
    })
    await fixture.set({ RegisterEnabled: 'true', GitHubOAuthEnabled: 'false' })
    const closed = await fixture.visitor().get('/api/oauth/authorize', { type: 'github' })
    expect(closed).toMatchObject({
      code: 'WayInClosed',
      message: '管理员未开启通过 GitHub 登录以及注册',
    })
    await fixture.set({ GitHubOAuthEnabled: 'true' })
  })

  it('creates one user for a newcomer with many tabs', async () => {
    newAccount('many-tabs')
    const visitor = fixture.visitor()
    const backs = []
    for (let tab = 0; tab < 12; tab += 1) backs.push(await visitor.travel('github'))
    const answers = await Promise.all(
      backs.map((back) => visitor.get<{ id: number }>('/api/oauth/github', back)),
    )
    expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1)
  })

  it('cannot be unbound while it is the only login method', async () => {
    newAccount('only-way')
    const visitor = fixture.visitor()
    const { data } = await visitor.comeBy('github')
    visitor.userId = String(data?.id)
    const unbind = await visitor.post('/api/user/unbind', { provider: 'github' })
    expect(unbind).toMatchObject({ status: 200, success: false, code: 'LastWayIn' })
    expect(await visitor.comeBy('linuxdo', { intent: 'bind' })).toMatchObject({ message: 'bind' })
    expect((await visitor.post('/api/user/unbind', { provider: 'github' })).success).toBe(true)
  })
})
