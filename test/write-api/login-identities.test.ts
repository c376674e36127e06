import { Secret, TOTP } from 'otpauth'
import { beforeAll, describe, expect, it } from 'vitest'
import { identityDecider } from '#domain/identities/decide.ts'
import { identityStream } from '#domain/identities/events.ts'
import { findUser, findUserByIdentity } from '#projections/users/query.ts'
import type { User } from '#read-api/contract/users.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import type { Deps } from '#write-api/action.ts'
import { createNextIds } from '#write-api/assign-next-id.ts'
import { createKeyedMutex } from '#write-api/keyed-mutex.ts'
import { bindIdentity } from '#write-api/users/bind-and-unbind-identities.ts'
import { createUserAccount, type NewUser } from '#write-api/users/create-user-account.ts'
import { type Identity, identityKeyOf } from '#write-api/users/identity-key.ts'
import { callerOf, fifty, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
let parts: Deps

beforeAll(async () => {
  const { core, freshness } = fixture
  const runExclusive = createKeyedMutex()
  parts = {
    core,
    freshness,
    runExclusive,
    nextIds: createNextIds(core, runExclusive),
  } as unknown as Deps
})

const github = (id: string): Identity => ({
  provider: 'github',
  id,
  authority: 'https://github.com',
})
const context = () => ({ actor: 'user:1', cause: null, at: fixture.core.now() })
const newUser = (username: string, more: Partial<NewUser> = {}): NewUser => ({
  username,
  displayName: username,
  password: null,
  role: 1,
  quota: 5n,
  reason: 'new-user',
  ...more,
})
const make = async (username: string, more: Partial<NewUser>) =>
  (await createUserAccount(parts, newUser(username, more), context())).outcome
const settled = async () => {
  const head = await fixture.head()
  expect(await fixture.freshness.waitFor(['users', 'balances'], head, 20_000)).toBe(true)
}
const ownerOf = async (identity: Identity) => {
  const key = identityKeyOf(fixture.core.vault, identity)
  const stream = identityStream(identity.provider, key)
  const { userId } = await fixture.core.actors.stateOf(identityDecider, stream)
  await settled()
  const found = await findUserByIdentity(fixture.core.db, identity.provider, key)
  expect(found?.id ?? null).toBe(userId)
  return userId
}

describe('an identity', () => {
  it('belongs to one user when fifty new users register with it at once', async () => {
    const identities = [github('1001')]
    const made = await fifty((n) => make(`fresh${n}`, { identities }))
    const refused = made.flatMap((outcome) => (outcome.isDone ? [] : [outcome.error.code]))
    expect(refused).toEqual(Array(49).fill('IdentityTaken'))
    const [done] = made.filter((outcome) => outcome.isDone)
    expect(`user-${await ownerOf(github('1001'))}`).toBe(done?.isDone && done.events[0]?.stream)
  })

  it('belongs to one user, in every list too, when fifty users claim it at once', async () => {
    const ids = await fifty(async (n) => {
      const answer = await fixture.root.call<{ id: number }>('POST', '/api/user/', {
        body: { username: `claimer${n}`, password: PASSWORD },
      })
      return answer.data.id
    })
    const bound = await Promise.allSettled(
      ids.map((id) => bindIdentity(parts, id, github('2002'), context())),
    )
    expect(bound.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const owner = await ownerOf(github('2002'))
    expect(owner).toBe(ids[bound.findIndex(({ status }) => status === 'fulfilled')])
    const { data } = await fixture.root.call<{ items: User[] }>(
      'GET',
      '/api/user/search?keyword=claimer&page_size=100',
    )
    const having = data.items.filter(({ github_id }) => github_id === '2002')
    expect(having.map(({ id }) => id)).toEqual([owner])
  })
})

describe('an identity that replaces another one of the same user', () => {
  it('replaces the previous one; of fifty at once, only the last stays bound', async () => {
    const userId = fixture.user.id
    const mail = (id: string): Identity => ({ provider: 'email', id })
    await fifty((n) => bindIdentity(parts, userId, mail(`m30${n}@example.com`), context()))
    await settled()
    const user = await findUser(fixture.core.db, userId)
    const owners = await fifty((n) => ownerOf(mail(`m30${n}@example.com`)))
    expect(owners.filter((owner) => owner !== null)).toEqual([userId])
    expect(await ownerOf(mail(user?.email ?? ''))).toBe(userId)
  })
})

describe('a second account of one provider', () => {
  it('is refused until the first is unbound; of fifty at once one is bound', async () => {
    const userId = fixture.user.id
    const bind = (id: string) => bindIdentity(parts, userId, github(id), context())
    const bound = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => bind(`31${n}`)))
    const refused = bound.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(refused).toEqual(Array(49).fill('ProviderBound'))
    const kept = bound.findIndex(({ status }) => status === 'fulfilled')
    expect(await ownerOf(github(`31${kept}`))).toBe(userId)
    expect(await ownerOf(github(`31${kept === 0 ? 1 : 0}`))).toBe(null)
    // Binding the same identity again changes nothing.
    await bind(`31${kept}`)
    const unbound = await fixture.user.call('POST', '/api/user/unbind', {
      body: { provider: 'github' },
    })
    expect(unbound).toMatchObject({ success: true })
    await bind('3200')
    expect(await ownerOf(github('3200'))).toBe(userId)
  })
})

describe('identities', () => {
  it('differ between two installations of one provider', async () => {
    const own = { ...github('4004'), authority: 'https://git.example' }
    await make('public4', { identities: [github('4004')] })
    await make('private4', { identities: [own], inviterId: 2 })
    expect(await ownerOf(own)).not.toBe(await ownerOf(github('4004')))
    expect(await findUser(fixture.core.db, (await ownerOf(own)) ?? 0)).toMatchObject({
      inviterId: 2,
      passwordRef: null,
      githubId: '4004',
    })
  })

  it('ignore case in mail addresses, and are sealed in events', async () => {
    const mail = (id: string): Identity => ({ provider: 'email', id })
    await make('mailer', { identities: [mail('Ann@Example.com')] })
    const again = await make('mailer2', { identities: [mail('ann@example.COM')] })
    expect(again).toMatchObject({ isDone: false, error: { code: 'IdentityTaken' } })
    const id = await ownerOf(mail('ann@example.com'))
    const events = await fixture.core.store.readStream(`user-${id}`)
    expect(JSON.stringify(events).toLowerCase()).not.toContain('ann@example')
    const { data } = await fixture.root.call<User>('GET', `/api/user/${id}`)
    expect(data.email).toBe('Ann@Example.com')
  })

  it('allow a user without a password to set a first one after a recent login', async () => {
    await expect(fixture.logIn('mailer', PASSWORD)).rejects.toThrow('用户名或密码错误')
    const id = (await ownerOf({ provider: 'email', id: 'ann@example.com' })) ?? 0
    const { authVersion = 0 } = (await findUser(fixture.core.db, id)) ?? {}
    const session = await fixture.app.gate.sessions.start(id, authVersion)
    const call = callerOf(fixture.app, { cookie: `session=${session}`, 'user-id': String(id) })
    expect((await call<User>('GET', '/api/user/self')).data.has_password).toBe(false)
    // A user without any proof of identity must have logged in recently, or log in again.
    fixture.clock.ahead += 31 * 60_000
    const ways = [
      await call('PUT', '/api/user/self', { body: { password: PASSWORD } }),
      await call('POST', '/api/user/totp/begin', { body: {} }),
      await call('GET', '/api/user/token'),
      await call('POST', '/api/user/unbind', { body: { provider: 'email' } }),
    ]
    expect(ways.map(({ code }) => code)).toEqual(Array(4).fill('LoginNotRecent'))
    fixture.clock.ahead -= 31 * 60_000
    const first = await call('PUT', '/api/user/self', { body: { password: PASSWORD } })
    expect(first).toMatchObject({ success: true })
    const mailer = await fixture.logIn('mailer', PASSWORD)
    const second = await mailer.call('PUT', '/api/user/self', { body: { password: 'otherwise' } })
    expect(second).toMatchObject({ success: false, code: 'WrongOriginalPassword' })
  })

  it('require a code to set a first password when two-step login is on', async () => {
    const identity = github('4004')
    await make('keeper', { identities: [identity] })
    const id = (await ownerOf(identity)) ?? 0
    const { authVersion = 0 } = (await findUser(fixture.core.db, id)) ?? {}
    const session = await fixture.app.gate.sessions.start(id, authVersion)
    const call = callerOf(fixture.app, { cookie: `session=${session}`, 'user-id': String(id) })
    const offer = await call<{ secret: string }>('POST', '/api/user/totp/begin', { body: {} })
    const totp = new TOTP({ secret: Secret.fromBase32(offer.data.secret) })
    const code = () => totp.generate({ timestamp: Date.now() + fixture.clock.ahead })
    await call('POST', '/api/user/totp', { body: { code: code() } })
    fixture.clock.ahead += 60_000
    const set = (proof: object) =>
      call('PUT', '/api/user/self', { body: { password: PASSWORD, ...proof } })
    expect(await set({})).toMatchObject({ success: false, code: 'ProofNeeded' })
    expect(await set({ code: '000000' })).toMatchObject({ success: false, code: 'CodeWrong' })
    expect((await call<User>('GET', '/api/user/self')).data.has_password).toBe(false)
    expect(await set({ code: code() })).toMatchObject({ success: true })
  })

  it('are free for other users after their user is erased', async () => {
    const identities = [github('5005')]
    await make('leaver', { identities })
    const id = await ownerOf(github('5005'))
    await fixture.root.call('POST', '/api/user/erase', { body: { id, username: 'leaver' } })
    expect(await findUser(fixture.core.db, id ?? 0)).toMatchObject({ githubId: '' })
    await make('comer', { identities })
    expect(await ownerOf(github('5005'))).toBe((id ?? 0) + 1)
  })

  it('have a read model that equals the fold of the events', async () => {
    await settled()
    expect(await fixture.isFold('users')).toBe(true)
  })
})
