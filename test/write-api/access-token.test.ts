import { describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type Caller, callerOf, type LoggedIn, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

async function newUser(username: string): Promise<LoggedIn> {
  const root = await fixture.logIn('root')
  await root.call('POST', '/api/user/', { body: { username, password: PASSWORD } })
  return fixture.logIn(username)
}

const reset = async ({ call }: LoggedIn): Promise<string> =>
  (await call<string>('GET', '/api/user/token')).data

const by = (token: string, id: number, more: Record<string, string> = {}): Caller =>
  callerOf(fixture.app, { authorization: `Bearer ${token}`, 'user-id': String(id), ...more })

const works = async (call: Caller): Promise<boolean> =>
  (await call('GET', '/api/user/self')).status === 200

describe('the system access token', () => {
  it('authenticates its user together with the user’s id, and is shown once', async () => {
    const user = await newUser('alice')
    const token = await reset(user)
    expect(token).toMatch(/^sat_[\w-]{43}$/)
    expect(await works(by(token, user.id))).toBe(true)
    for (const call of [by(token, 1), by(token, user.id + 1), by(`${token}x`, user.id)]) {
      expect(await works(call)).toBe(false)
    }
    // A request with an access token is authenticated by the token alone; its session cookie is
    // ignored.
    expect(await works(by(`sat_${'x'.repeat(43)}`, user.id, { cookie: user.cookie }))).toBe(false)
    const kept = JSON.stringify([
      await fixture.core.store.readAll(0, 10_000),
      (await user.call('GET', '/api/user/security')).data,
      (await user.call('GET', '/api/user/self')).data,
    ])
    expect(kept).not.toContain(token)
    expect(kept).not.toContain(token.slice(4, 20))
  })

  it('ends with a new access token, with a revocation, and after 90 days', async () => {
    const user = await newUser('bob')
    const first = by(await reset(user), user.id)
    const second = by(await reset(user), user.id)
    expect([await works(first), await works(second)]).toEqual([false, true])
    const { data } = await user.call('GET', '/api/user/security')
    expect(data).toMatchObject({ access_token: { expires_at: expect.any(Number) } })
    expect((await user.call('DELETE', '/api/user/token')).success).toBe(true)
    expect(await works(second)).toBe(false)
    expect((await user.call('GET', '/api/user/security')).data).toMatchObject({
      access_token: null,
    })
    const third = by(await reset(user), user.id)
    fixture.clock.ahead += 90 * 86_400_000 - 60_000
    expect(await works(third)).toBe(true)
    fixture.clock.ahead += 61_000
    expect(await works(third)).toBe(false)
  })

  it('has the role of its user, and ends when the role changes', async () => {
    const user = await newUser('carol')
    const root = await fixture.logIn('root')
    const body = { key: 'SystemName', value: 'Gate' }
    const token = by(await reset(user), user.id)
    expect((await token('PUT', '/api/option/', { body })).status).toBe(403)
    const rootToken = by(await reset(root), 1)
    expect((await rootToken('PUT', '/api/option/', { body })).success).toBe(true)
    const promote = { id: user.id, action: 'promote' }
    await root.call('POST', '/api/user/manage', { body: promote })
    expect(await works(token)).toBe(false)
  })

  it('reads API token keys only masked, and cannot search for parts of a key', async () => {
    const user = await newUser('erin')
    const made = await user.call<{ id: number; key: string }>('POST', '/api/token/', {
      body: { name: 'mine' },
    })
    const { id, key } = made.data
    const token = by(await reset(user), user.id)
    const masked = `${'*'.repeat(12)}${key.slice(-4)}`
    const paths = ['', 'search?keyword=mine', `search?token=sk-${key}`]
    for (const path of paths) {
      const { data } = await token<{ items: { key: string }[] }>('GET', `/api/token/${path}`)
      expect(data.items.map((row) => row.key)).toEqual([masked])
    }
    expect((await token('GET', `/api/token/${id}`)).data).toMatchObject({ key: masked })
    const part = `/api/token/search?token=${key.slice(0, 6)}`
    expect((await token('GET', part)).data).toMatchObject({ items: [] })
    expect((await user.call('GET', part)).data).toMatchObject({ items: [{ key }] })
    expect((await user.call('GET', `/api/token/${id}`)).data).toMatchObject({ key })
  })

  it('cannot change the password, and ends when the password changes', async () => {
    const user = await newUser('dave')
    const token = by(await reset(user), user.id)
    const body = { password: 'another one', original_password: PASSWORD }
    const refused = await token('PUT', '/api/user/self', { body })
    expect([refused.status, refused.code]).toEqual([403, 'SessionRequired'])
    const renamed = await token('PUT', '/api/user/self', { body: { display_name: 'Dave' } })
    expect(renamed.success).toBe(true)
    expect((await user.call('PUT', '/api/user/self', { body })).success).toBe(true)
    expect(await works(token)).toBe(false)
  })

  it('cannot set another user’s password or erase a user', async () => {
    const { id } = await newUser('frank')
    const root = by(await reset(await fixture.logIn('root')), 1)
    const set = await root('PUT', '/api/user/', { body: { id, password: 'another one' } })
    expect([set.status, set.code]).toEqual([403, 'SessionRequired'])
    const erased = await root('POST', '/api/user/erase', { body: { id, username: 'frank' } })
    expect([erased.status, erased.code]).toEqual([403, 'SessionRequired'])
    const named = { id, display_name: 'Frank' }
    expect((await root('PUT', '/api/user/', { body: named })).success).toBe(true)
    expect((await fixture.logIn('frank')).id).toBe(id)
  })
})
