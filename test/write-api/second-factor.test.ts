import { Secret, TOTP } from 'otpauth'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { callerOf, fifty, type LoggedIn, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
// The clock moves, so that each code is new and no delay after failed attempts remains.
beforeEach(() => {
  fixture.clock.ahead += 3_600_000
})

const PROVED = { body: { password: PASSWORD } }

type Offer = { readonly secret: string; readonly uri: string }
type Codes = { readonly recovery_codes: string[] }
type Needed = { readonly second_factor: { readonly ticket: string; readonly kinds: string[] } }

const codeOf = (secret: string, stepsAhead = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + fixture.clock.ahead + stepsAhead * 30_000,
  })

async function newUser(username: string): Promise<LoggedIn> {
  await fixture.root.call('POST', '/api/user/', { body: { username, password: PASSWORD } })
  return fixture.logIn(username)
}

/** Creates a user with an authenticator app. `secret` generates the codes. */
async function secured(username: string) {
  const user = await newUser(username)
  const { secret } = (await user.call<Offer>('POST', '/api/user/totp/begin', PROVED)).data
  const body = { code: codeOf(secret) }
  const { data } = await user.call<Codes>('POST', '/api/user/totp', { body })
  fixture.clock.ahead += 60_000
  return { ...user, username, secret, codes: data.recovery_codes }
}

const firstStep = (username: string) =>
  fixture.anybody<Needed>('POST', '/api/user/login', { body: { username, password: PASSWORD } })

const ticketOf = async (username: string): Promise<string> =>
  (await firstStep(username)).data.second_factor.ticket

const second = (ticket: string, code: string) =>
  fixture.anybody('POST', '/api/user/login/second', { body: { ticket, code } })

describe('setting up an authenticator app', () => {
  it('offers a secret as text and URI, and turns the app on only by a right code', async () => {
    const user = await newUser('setup1')
    const offer = await user.call<Offer>('POST', '/api/user/totp/begin', PROVED)
    expect(offer.data.secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(offer.data.uri).toMatch(/^otpauth:\/\/totp\/[^?]*setup1\?.*secret=/)
    const confirm = (code: string) => user.call<Codes>('POST', '/api/user/totp', { body: { code } })
    expect(await confirm('000000')).toMatchObject({ success: false, code: 'CodeWrong' })
    expect((await firstStep('setup1')).data).toMatchObject({ username: 'setup1' })
    const { data } = await confirm(codeOf(offer.data.secret))
    expect(new Set(data.recovery_codes).size).toBe(10)
    for (const code of data.recovery_codes) expect(code).toMatch(/^\w{4}-\w{4}-\w{4}$/)
    expect((await user.call('GET', '/api/user/security')).data).toMatchObject({
      totp_since: expect.any(Number),
      recovery_codes: 10,
      passkeys: [],
    })
  })

  it('expires after ten minutes, and is refused if an app is already on', async () => {
    const user = await newUser('setup2')
    const { data } = await user.call<Offer>('POST', '/api/user/totp/begin', PROVED)
    fixture.clock.ahead += 601_000
    const late = await user.call('POST', '/api/user/totp', { body: { code: codeOf(data.secret) } })
    expect(late.code).toBe('TotpOfferOver')
    const { call } = await secured('setup3')
    const again = await call('POST', '/api/user/totp/begin', { body: { password: PASSWORD } })
    expect(again.code).toBe('TotpAlreadyOn')
  })
})

describe('adding another login method', () => {
  const begin = ['/api/user/totp/begin', '/api/user/passkeys/begin'] as const
  const site = { origin: 'https://gate.example', host: 'gate.example' }

  it('needs an identity proof besides the session, even for the first second factor', async () => {
    const { call } = await newUser('first1')
    const ask = (path: string, body: object) => call('POST', path, { body, headers: site })
    for (const path of begin) {
      expect((await ask(path, {})).code).toBe('ProofNeeded')
      expect((await ask(path, { password: 'wrong password' })).code).toBe('ProofWrong')
      expect((await ask(path, { password: PASSWORD })).success).toBe(true)
    }
  })

  it('needs a recent login or identity proof for calls that carry no proof', async () => {
    const { call } = await newUser('first2')
    const CALLS = [
      () => call('GET', '/api/user/token'),
      () => call('GET', '/api/oauth/state?intent=bind'),
      () => call('GET', '/api/oauth/wechat/bind?code=1'),
      () => call('GET', '/api/oauth/email/bind?email=a@example.com&code=123456'),
      () => call('POST', '/api/user/unbind', { body: { provider: 'email' } }),
    ]
    const codes = () => Promise.all(CALLS.map(async (ask) => (await ask()).code))
    const fresh = await codes()
    fixture.clock.ahead += 31 * 60_000
    expect(await codes()).toEqual(CALLS.map(() => 'ProofNotRecent'))
    const prove = (password: string) => call('POST', '/api/user/proof', { body: { password } })
    expect((await prove('wrong password')).code).toBe('ProofWrong')
    expect((await codes())[0]).toBe('ProofNotRecent')
    expect((await prove(PASSWORD)).success).toBe(true)
    expect(await codes()).toEqual(fresh)
    expect(fresh).not.toContain('ProofNotRecent')
  })
})

describe('an app that was turned on by an append whose answer was lost', () => {
  it('keeps its secret, because only a refusal removes a secret', async () => {
    const user = await newUser('lost1')
    const { secret } = (await user.call<Offer>('POST', '/api/user/totp/begin', PROVED)).data
    const { actors } = fixture.core
    const append = actors.handleTogether.bind(actors)
    const lost = vi.spyOn(actors, 'handleTogether').mockImplementationOnce(async (...steps) => {
      await append(...steps)
      throw new StoreUnavailable('the answer was lost')
    })
    const confirm = () =>
      user.call<Codes>('POST', '/api/user/totp', { body: { code: codeOf(secret) } })
    expect((await confirm()).status).toBe(503)
    lost.mockRestore()
    expect((await confirm()).code).toBe('TotpAlreadyOn')
    const kept = await fixture.core.pg.query(
      `select from vault.secrets where purpose = 'totp' and owner = $1`,
      [`user:${user.id}`],
    )
    expect(kept.rowCount).toBe(1)
    fixture.clock.ahead += 60_000
    expect((await second(await ticketOf('lost1'), codeOf(secret))).success).toBe(true)
  })
})

describe('a login with a second step', () => {
  it('has no session before the second step, and one after it', async () => {
    const { username, secret, id } = await secured('login1')
    const first = await firstStep(username)
    expect(first.success).toBe(true)
    expect(first.headers['set-cookie']).toBeUndefined()
    expect(first.data.second_factor.kinds).toEqual(['totp', 'recovery'])
    const done = await second(first.data.second_factor.ticket, codeOf(secret))
    expect(done).toMatchObject({ success: true, data: { id, username, role: 1 } })
    const cookie = String(done.headers['set-cookie']).split(';')[0] ?? ''
    const call = callerOf(fixture.app, { cookie, 'user-id': String(id) })
    expect((await call('GET', '/api/user/self')).status).toBe(200)
    const again = await second(first.data.second_factor.ticket, codeOf(secret, 1))
    expect(again.code).toBe('LoginTicketOver')
  })

  it('accepts a code once when fifty requests send it at once', async () => {
    const { username, secret, codes } = await secured('login2')
    for (const code of [codeOf(secret), codes[0] ?? '']) {
      const ticket = await ticketOf(username)
      const others = [await ticketOf(username), await ticketOf(username)]
      const tries = await fifty((n) => second([ticket, ...others][n % 3] ?? '', code))
      expect(tries.filter(({ success }) => success)).toHaveLength(1)
      expect(tries.every(({ status }) => status === 200 || status === 429)).toBe(true)
      fixture.clock.ahead += 3_600_000
    }
  })

  it('refuses used codes and codes of earlier time steps', async () => {
    const { username, secret } = await secured('login3')
    const code = codeOf(secret)
    expect((await second(await ticketOf(username), code)).success).toBe(true)
    expect((await second(await ticketOf(username), code)).code).toBe('CodeUsed')
    expect((await second(await ticketOf(username), codeOf(secret, -1))).code).toBe('CodeUsed')
    expect((await second(await ticketOf(username), codeOf(secret, 3))).code).toBe('CodeWrong')
  })

  it('accepts a recovery code in any notation, once', async () => {
    const { username, codes, call } = await secured('login4')
    const typed = (codes[3] ?? '').toUpperCase().replaceAll('-', ' ')
    expect((await second(await ticketOf(username), typed)).success).toBe(true)
    expect((await second(await ticketOf(username), codes[3] ?? '')).code).toBe('CodeWrong')
    const security = async () => (await call('GET', '/api/user/security')).data
    await expect.poll(security).toMatchObject({ recovery_codes: 9 })
  })

  it('allows five attempts and five minutes per ticket, and delays the account', async () => {
    const { username, secret } = await secured('login5')
    const ticket = await ticketOf(username)
    for (let n = 0; n < 5; n += 1) expect((await second(ticket, '000000')).code).toBe('CodeWrong')
    fixture.clock.ahead += 2_000
    expect((await second(ticket, codeOf(secret))).code).toBe('LoginTicketOver')
    const slowed = await second(await ticketOf(username), codeOf(secret))
    expect([slowed.status, Number(slowed.headers['retry-after']) > 0]).toEqual([429, true])
    fixture.clock.ahead += 3_600_000
    const late = await ticketOf(username)
    fixture.clock.ahead += 301_000
    expect((await second(late, codeOf(secret))).code).toBe('LoginTicketOver')
    expect((await second('no such ticket', codeOf(secret))).code).toBe('LoginTicketOver')
  })

  it('loses its ticket when the user is banned', async () => {
    const { username, secret, id } = await secured('login6')
    const ticket = await ticketOf(username)
    const { root } = fixture
    await root.call('POST', '/api/user/manage', { body: { id, action: 'disable' } })
    expect((await second(ticket, codeOf(secret))).code).toBe('LoginTicketOver')
    expect((await firstStep(username)).code).toBe('UserBanned')
  })
})

describe('changing second factors', () => {
  it('needs the password or a code', async () => {
    const { call, secret } = await secured('change1')
    const off = (body: object) => call('POST', '/api/user/totp/disable', { body })
    expect((await off({})).code).toBe('ProofNeeded')
    expect((await off({ password: 'wrong password' })).code).toBe('ProofWrong')
    expect((await off({ code: '000000' })).code).toBe('CodeWrong')
    const fresh = await call<Codes>('POST', '/api/user/recovery_codes', {
      body: { code: codeOf(secret) },
    })
    expect(fresh.data.recovery_codes).toHaveLength(10)
    expect((await off({ code: fresh.data.recovery_codes[0] })).success).toBe(true)
    expect((await call('GET', '/api/user/security')).data).toMatchObject({
      totp_since: null,
      recovery_codes: 0,
    })
    expect((await firstStep('change1')).data).toMatchObject({ username: 'change1' })
  })

  it('gives no recovery codes without a second factor', async () => {
    const { call } = await newUser('change2')
    const answer = await call('POST', '/api/user/recovery_codes', { body: { password: PASSWORD } })
    expect(answer.code).toBe('NoSecondFactor')
  })

  it('leaves nothing after the user is deleted, and no secret in events', async () => {
    const { id, codes, secret } = await secured('change3')
    await fixture.root.call('POST', '/api/user/manage', { body: { id, action: 'delete' } })
    const left = await fixture.core.pg.query(
      `select (select count(*) from vault.secrets where purpose = 'totp' and owner = $1)
            + (select count(*) from auth.sessions where user_id = $2)
            + (select count(*) from read_credentials.credentials
               where user_id = $2 and (totp_since is not null or recovery_codes > 0)) as n`,
      [`user:${id}`, id],
    )
    expect(Number(left.rows[0].n)).toBe(0)
    const events = JSON.stringify(await fixture.core.store.readAll(0, 10_000))
    for (const secretText of [secret, ...codes]) expect(events).not.toContain(secretText)
  })
})
