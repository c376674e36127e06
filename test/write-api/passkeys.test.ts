import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { userDecider } from '#domain/users/decide.ts'
import { userStream } from '#domain/users/events.ts'
import { createAuthenticator } from '#test/support/authenticator.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { bindSteps } from '#write-api/users/bind-and-unbind-identities.ts'
import { storePassword } from '#write-api/users/passwords.ts'
import {
  type Caller,
  callerOf,
  fifty,
  type LoggedIn,
  PASSWORD,
  seededFixture,
} from './write-fixture.ts'

const ORIGIN = 'https://gate.example'
const SITE = { origin: ORIGIN, host: 'gate.example' }

const fixture = startedOnce(seededFixture)
beforeEach(() => {
  fixture.clock.ahead += 3_600_000
})

const PROVED = { body: { password: PASSWORD } }

type Begun = { readonly options: { readonly challenge: string; readonly rpId?: string } }
type Codes = { readonly recovery_codes: string[] }
type Needed = { readonly second_factor: { readonly ticket: string; readonly kinds: string[] } }
type Authenticator = ReturnType<typeof createAuthenticator>

const at =
  (call: Caller, site: Record<string, string> = SITE): Caller =>
  (method, url, { body = {} } = {}) =>
    call(method, url, { headers: site, ...(method === 'GET' ? {} : { body }) })

const anybody: Caller = (...asked) => at(fixture.anybody)(...asked)

async function newUser(username: string): Promise<LoggedIn> {
  await fixture.root.call('POST', '/api/user/', { body: { username, password: PASSWORD } })
  const { id, cookie } = await fixture.logIn(username)
  return { id, cookie, call: at(callerOf(fixture.app, { cookie, 'user-id': String(id) })) }
}

async function add(
  call: Caller,
  made: Authenticator,
  name = 'phone',
  proof: object = { password: PASSWORD },
) {
  const { data } = await call<Begun>('POST', '/api/user/passkeys/begin', { body: proof })
  const body = { name, passkey: made.make(data.options, { origin: ORIGIN }) }
  return call<Codes>('POST', '/api/user/passkeys', { body })
}

async function withPasskey(username: string) {
  const user = await newUser(username)
  const key = createAuthenticator()
  const { data } = await add(user.call, key)
  return { ...user, key, codes: data.recovery_codes }
}

const begin = async (path: string, body: object = {}) =>
  (await anybody<Begun>('POST', path, { body })).data.options

const enterBy = (passkey: unknown) =>
  anybody('POST', '/api/user/login/passkey', { body: { passkey } })

describe('adding passkeys', () => {
  it('keeps several passkeys by name, and gives recovery codes with the first', async () => {
    const { call } = await newUser('add1')
    const first = await add(call, createAuthenticator(), 'phone')
    expect(first.data.recovery_codes).toHaveLength(10)
    const key = createAuthenticator()
    const second = await add(call, key, ' laptop ', { password: PASSWORD })
    expect(second).toMatchObject({ success: true, data: { recovery_codes: [] } })
    const { data } = await call('GET', '/api/user/security')
    expect(data).toMatchObject({ passkeys: [{ name: 'phone' }, { id: 2, name: 'laptop' }] })
    expect((await add(call, key, 'again', { password: PASSWORD })).code).toBe('PasskeyKnown')
    const rename = { id: 2, name: 'office' }
    expect((await call('PUT', '/api/user/passkeys', { body: rename })).success).toBe(true)
    const unknown = await call('PUT', '/api/user/passkeys', { body: { id: 9, name: 'x' } })
    expect([unknown.status, unknown.code]).toEqual([404, 'PasskeyUnknown'])
    const remove = (body: object) => call('POST', '/api/user/passkeys/remove', { body })
    expect((await remove({ id: 1 })).code).toBe('ProofNeeded')
    expect((await remove({ id: 1, password: PASSWORD })).success).toBe(true)
    const after = await call('GET', '/api/user/security')
    expect(after.data).toMatchObject({ passkeys: [{ id: 2, name: 'office' }] })
  })

  it('needs an identity proof once the user has a passkey', async () => {
    const { call } = await withPasskey('add2')
    const answer = await call('POST', '/api/user/passkeys/begin')
    expect(answer.code).toBe('ProofNeeded')
  })

  it('refuses another site, another user’s challenge, and a used challenge', async () => {
    const { call } = await newUser('add3')
    const other = await newUser('add4')
    const send = (passkey: object) =>
      call('POST', '/api/user/passkeys', { body: { name: 'x', passkey } })
    const begun = async (who: Caller) =>
      (await who<Begun>('POST', '/api/user/passkeys/begin', PROVED)).data.options
    const made = createAuthenticator()
    const strange = made.make(await begun(call), { origin: 'https://evil.example' })
    expect((await send(strange)).code).toBe('PasskeyFailed')
    const foreign = made.make(await begun(other.call), { origin: ORIGIN })
    expect((await send(foreign)).code).toBe('PasskeyFailed')
    const good = made.make(await begun(call), { origin: ORIGIN })
    expect((await send(good)).success).toBe(true)
    expect((await send(good)).code).toBe('PasskeyFailed')
    expect((await send({ ...good, response: {} })).status).toBe(400)
  })

  it('reports that passkeys need a domain instead of an IP address', async () => {
    const bare = { origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' }
    const answer = await at(fixture.anybody, bare)('POST', '/api/user/login/passkey/begin')
    expect(answer.code).toBe('PasskeyNeedsDomain')
  })

  it.each(['[', 'a:99999', 'a b'])(
    'reports that passkeys need a domain instead of the invalid host %j',
    async (host) => {
      const answer = await at(fixture.anybody, { host })('POST', '/api/user/login/passkey/begin')
      expect(answer).toMatchObject({ status: 200, code: 'PasskeyNeedsDomain' })
    },
  )
})

describe('a passkey as the second step of a login', () => {
  it('is requested after the password, and works for that login only', async () => {
    const { key, id } = await withPasskey('second1')
    const logIn = () =>
      anybody<Needed>('POST', '/api/user/login', {
        body: { username: 'second1', password: PASSWORD },
      })
    const { ticket, kinds } = (await logIn()).data.second_factor
    expect(kinds).toEqual(['passkey', 'recovery'])
    const other = (await logIn()).data.second_factor.ticket
    const options = await begin('/api/user/login/second/begin', { ticket })
    const passkey = key.show(options, { origin: ORIGIN, isUnlocked: false })
    const send = (by: string) =>
      anybody('POST', '/api/user/login/second', { body: { ticket: by, passkey } })
    expect((await send(other)).code).toBe('PasskeyFailed')
    const again = await begin('/api/user/login/second/begin', { ticket })
    const right = key.show(again, { origin: ORIGIN, isUnlocked: false })
    const body = { ticket, passkey: right }
    expect(await anybody('POST', '/api/user/login/second', { body })).toMatchObject({
      success: true,
      data: { id },
    })
  })
})

describe('a passkey as login method', () => {
  const PATH = '/api/user/login/passkey/begin'

  it('starts a session without a second step if it was unlocked', async () => {
    const { key, id } = await withPasskey('alone1')
    const locked = key.show(await begin(PATH), { origin: ORIGIN, isUnlocked: false })
    expect((await enterBy(locked)).code).toBe('PasskeyFailed')
    const answer = await enterBy(key.show(await begin(PATH), { origin: ORIGIN }))
    expect(answer).toMatchObject({ success: true, data: { id, username: 'alone1' } })
    expect(String(answer.headers['set-cookie'])).toMatch(/^session=/)
  })

  it('works once per signature when fifty requests send it at once', async () => {
    const { key } = await withPasskey('alone2')
    const shown = key.show(await begin(PATH), { origin: ORIGIN })
    const tries = await fifty(() => enterBy(shown))
    expect(tries.filter(({ success }) => success)).toHaveLength(1)
  })

  it('is refused as a copy if its counter is behind', async () => {
    const { key } = await withPasskey('alone3')
    const show = async (counter: number) =>
      enterBy(key.show(await begin(PATH), { origin: ORIGIN, counter }))
    expect((await show(5)).success).toBe(true)
    expect((await show(5)).code).toBe('PasskeyCopied')
    expect((await show(6)).success).toBe(true)
  })

  it('is refused if unknown, from another site, or of a banned or deleted user', async () => {
    const { key, call, id } = await withPasskey('alone4')
    const options = await begin(PATH)
    const stranger = createAuthenticator()
    expect((await enterBy(stranger.show(options, { origin: ORIGIN }))).code).toBe('PasskeyFailed')
    const evil = key.show(await begin(PATH), { origin: 'https://evil.example' })
    expect((await enterBy(evil)).code).toBe('PasskeyFailed')
    const manage = (action: string) =>
      fixture.root.call('POST', '/api/user/manage', { body: { id, action } })
    await manage('disable')
    const show = async () => enterBy(key.show(await begin(PATH), { origin: ORIGIN }))
    expect((await show()).code).toBe('UserBanned')
    await manage('enable')
    expect((await call('GET', '/api/user/security')).status).toBe(401)
    await manage('delete')
    expect((await show()).code).toBe('PasskeyFailed')
  })
})

describe('a passkey as identity proof', () => {
  const PATH = '/api/user/passkeys/proof'
  const begun = async (call: Caller) => (await call<Begun>('POST', PATH)).data.options

  it('confirms a change of second factors once, if unlocked and issued for it', async () => {
    const { call, key } = await withPasskey('proof1')
    const renew = (passkey: unknown) =>
      call<Codes>('POST', '/api/user/recovery_codes', { body: { passkey } })
    const locked = key.show(await begun(call), { origin: ORIGIN, isUnlocked: false })
    expect((await renew(locked)).code).toBe('PasskeyFailed')
    const strange = createAuthenticator().show(await begun(call), { origin: ORIGIN })
    expect((await renew(strange)).code).toBe('PasskeyFailed')
    const forLogin = await begin('/api/user/login/passkey/begin')
    expect((await renew(key.show(forLogin, { origin: ORIGIN }))).code).toBe('PasskeyFailed')
    const shown = key.show(await begun(call), { origin: ORIGIN })
    expect((await enterBy(shown)).code).toBe('PasskeyFailed')
    const right = key.show(await begun(call), { origin: ORIGIN })
    expect((await renew(right)).data.recovery_codes).toHaveLength(10)
    expect((await renew(right)).code).toBe('PasskeyFailed')
    const other = createAuthenticator()
    const passkey = key.show(await begun(call), { origin: ORIGIN })
    expect((await add(call, other, 'laptop', { passkey })).success).toBe(true)
  })

  it('is not offered to a user without passkeys, and must be the user’s passkey', async () => {
    const [mine, theirs] = [await withPasskey('proof2'), await withPasskey('proof3')]
    const none = await newUser('proof4')
    expect((await none.call('POST', PATH)).code).toBe('PasskeyFailed')
    const passkey = theirs.key.show(await begun(theirs.call), { origin: ORIGIN })
    const body = { id: 1, passkey }
    const remove = await mine.call('POST', '/api/user/passkeys/remove', { body })
    expect(remove.code).toBe('PasskeyFailed')
  })
})

describe('a temporary password', () => {
  it('must be changed after a login with it, but not after a login by passkey', async () => {
    const { id, key } = await withPasskey('temporary1')
    const { actors, vault, now } = fixture.core
    const passwordRef = await storePassword(vault, id, await vault.hashPassword('mailed one'))
    const command = { type: 'ChangePassword', actorRole: 100, passwordRef, isTemporary: true }
    const step = { decider: userDecider, stream: userStream(id), command }
    const context = { actor: 'system:reset', cause: null, at: now() }
    expect((await actors.handleTogether([step], context)).isDone).toBe(true)

    const shown = async (path: string, body: object = {}) =>
      key.show(await begin(path, body), { origin: ORIGIN })
    await expect
      .poll(async () => (await enterBy(await shown('/api/user/login/passkey/begin'))).success)
      .toBe(true)
    const alone = await enterBy(await shown('/api/user/login/passkey/begin'))
    expect(alone.data).not.toHaveProperty('must_change_password')

    const login = { username: 'temporary1', password: 'mailed one' }
    const first = await anybody<Needed>('POST', '/api/user/login', { body: login })
    const { ticket } = first.data.second_factor
    const passkey = await shown('/api/user/login/second/begin', { ticket })
    const second = await anybody('POST', '/api/user/login/second', { body: { ticket, passkey } })
    expect(second.data).toMatchObject({ id, must_change_password: true })
  })
})

describe('a passkey as the last login method', () => {
  const put = (key: string, value: string) =>
    fixture.root.call('PUT', '/api/option/', { body: { key, value } })
  const bindGitHub = async (userId: number, id: string) => {
    const { core } = fixture
    const steps = await bindSteps({ core }, userId, { provider: 'github', id }, null)
    const context = { actor: `user:${userId}`, cause: null, at: core.now() }
    expect((await core.actors.handleTogether(steps, context)).isDone).toBe(true)
  }
  const unbind = (call: Caller) =>
    call('POST', '/api/user/unbind', { body: { provider: 'github' } })
  const remove = (call: Caller, id = 1) =>
    call('POST', '/api/user/passkeys/remove', { body: { id, password: PASSWORD } })

  beforeAll(async () => {
    await put('PasswordLoginEnabled', 'false')
    await put('GitHubOAuthEnabled', 'true')
  })
  afterAll(() => put('PasswordLoginEnabled', 'true'))

  // Starts the session before password login is disabled, as no user can log in by it later.
  const user = async (username: string, made: { isUnlocked: boolean }) => {
    await put('PasswordLoginEnabled', 'true')
    const { id, call } = await newUser(username)
    await put('PasswordLoginEnabled', 'false')
    const { data } = await call<Begun>('POST', '/api/user/passkeys/begin', PROVED)
    const passkey = createAuthenticator().make(data.options, { origin: ORIGIN, ...made })
    const body = { name: 'phone', passkey }
    expect((await call('POST', '/api/user/passkeys', { body })).success).toBe(true)
    await bindGitHub(id, username)
    return call
  }

  it('cannot be removed, but the other methods can', async () => {
    const call = await user('last1', { isUnlocked: true })
    expect((await unbind(call)).success).toBe(true)
    expect((await remove(call)).code).toBe('LastWayIn')
    const key = createAuthenticator()
    expect((await add(call, key, 'second', { password: PASSWORD })).success).toBe(true)
    expect((await remove(call)).success).toBe(true)
    expect((await remove(call, 2)).code).toBe('LastWayIn')
  })

  it('does not count if it was added without unlocking', async () => {
    const call = await user('last2', { isUnlocked: false })
    expect((await unbind(call)).code).toBe('LastWayIn')
    expect((await remove(call)).success).toBe(true)
  })

  it('cannot be reset by an admin until the user has another method', async () => {
    const call = await user('last4', { isUnlocked: true })
    expect((await unbind(call)).success).toBe(true)
    const { id } = (await call<{ id: number }>('GET', '/api/user/self')).data
    const reset = () => fixture.root.call('POST', '/api/user/reset_second_factor', { body: { id } })
    expect(await reset()).toMatchObject({ status: 200, code: 'OnlyPasskeysLeft' })
    expect((await call('GET', '/api/user/self')).status).toBe(200)
    await bindGitHub(id, 'last4')
    expect((await reset()).success).toBe(true)
  })

  it('is kept, or the other method is, when both are removed at the same moment', async () => {
    const call = await user('last3', { isUnlocked: true })
    const answers = await Promise.all([unbind(call), remove(call)])
    expect(answers.map(({ success }) => success).sort()).toEqual([false, true])
    expect(answers.map(({ code }) => code)).toContain('LastWayIn')
  })
})

// NOTE: this comes last, because a day ends the sessions of the other tests.
describe('the uses of passkeys', () => {
  const prove = async ({ call, key }: Pick<LoggedIn, 'call'> & { readonly key: Authenticator }) => {
    const { options } = (await call<Begun>('POST', '/api/user/passkeys/proof')).data
    const passkey = key.show(options, { origin: ORIGIN })
    return call('POST', '/api/user/proof', { body: { passkey } })
  }
  const logIn = async ({ key }: { readonly key: Authenticator }) =>
    enterBy(key.show(await begin('/api/user/login/passkey/begin'), { origin: ORIGIN }))

  it('are limited to 20 a minute per user, for proofs and logins together', async () => {
    const [mine, theirs] = [await withPasskey('uses1'), await withPasskey('uses2')]
    for (let n = 0; n < 10; n += 1) {
      expect((await prove(mine)).success).toBe(true)
      expect((await logIn(mine)).success).toBe(true)
    }
    const head = await fixture.head()
    for (const answer of [await prove(mine), await logIn(mine)]) {
      expect([answer.status, answer.code]).toEqual([429, 'TooManyRequests'])
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    }
    expect(await fixture.head()).toBe(head)
    expect((await prove(theirs)).success).toBe(true)
    fixture.clock.ahead += 60_000
    expect((await logIn(mine)).success).toBe(true)
  })

  it('are limited to 200 a day, and a wrong passkey does not count', async () => {
    const [mine, theirs] = [await withPasskey('uses3'), await withPasskey('uses4')]
    for (let n = 0; n < 30; n += 1) {
      fixture.clock.ahead += 60_000
      expect((await prove({ call: mine.call, key: theirs.key })).code).toBe('PasskeyFailed')
    }
    for (let n = 0; n < 200; n += 1) {
      fixture.clock.ahead += 4_000
      expect((await logIn(mine)).success).toBe(true)
    }
    fixture.clock.ahead += 60_000
    expect((await logIn(mine)).status).toBe(429)
    fixture.clock.ahead += 24 * 3_600_000
    expect((await logIn(mine)).success).toBe(true)
  })
})
