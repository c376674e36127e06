import { beforeAll, describe, expect, it, vi } from 'vitest'
import { StoreUnavailable } from '#infra/event-store/port.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { entryFixture } from './entry-fixture.ts'
import { fifty, PASSWORD } from './write-fixture.ts'

const fixture = startedOnce(entryFixture)
beforeAll(async () => {
  await fixture.put('ServerAddress', 'https://gate.example')
})

const made = async (username: string): Promise<number> => {
  const body = { username, password: PASSWORD }
  return (await fixture.root.call<{ id: number }>('POST', '/api/user/', { body })).data.id
}
const hashesOf = async (id: number): Promise<number> => {
  const { rowCount } = await fixture.core.pg.query(
    `select from vault.secrets where purpose = 'password' and owner = $1`,
    [`user:${id}`],
  )
  return rowCount ?? 0
}
const sessionsOf = async (id: number): Promise<number> => {
  const { rowCount } = await fixture.core.pg.query('select from auth.sessions where user_id = $1', [
    id,
  ])
  return rowCount ?? 0
}

describe('a replaced password', () => {
  it('leaves no hash after a change by its user, by an admin or by a link', async () => {
    const id = await made('changer')
    const { call } = await fixture.logIn('changer')
    const own = { password: 'another one', original_password: PASSWORD }
    const changed = await call('PUT', '/api/user/self', { body: own })
    expect([changed.success, await hashesOf(id)]).toEqual([true, 1])
    const given = { id, password: 'given by an admin' }
    expect((await fixture.admin.call('PUT', '/api/user/', { body: given })).success).toBe(true)
    expect([await hashesOf(id), await sessionsOf(id)]).toEqual([1, 0])
    const later = await fixture.logIn('changer', 'given by an admin')
    const code = await fixture.codeFor('changer@example.com', later.call)
    const email = 'changer@example.com'
    await later.call('GET', `/api/oauth/email/bind?${new URLSearchParams({ email, code })}`)
    fixture.clock.ahead += 60_000
    await fixture.anybody('GET', `/api/reset_password?email=${email}`)
    const { text } = await fixture.server.mailTo(email)
    const token = new URL(/https?:\S+/.exec(text)?.[0] ?? '').searchParams.get('token')
    const reset = await fixture.anybody<string>('POST', '/api/user/reset', {
      body: { email, token },
    })
    expect([reset.success, await hashesOf(id)]).toEqual([true, 1])
    expect((await fixture.logIn('changer', reset.data)).id).toBe(id)
  })

  it('leaves one valid password after twenty concurrent changes', async () => {
    const id = await made('hurried')
    const set = (n: number) =>
      fixture.root.call('PUT', '/api/user/', { body: { id, password: `hurried ${n} times` } })
    // Twenty is the maximum number of requests that may wait for a hash.
    const answers = await fifty((n) => (n < 20 ? set(n) : fixture.root.call('GET', '/api/user/1')))
    expect(answers.every(({ success }) => success)).toBe(true)
    expect(await hashesOf(id)).toBe(1)
    const tries = Array.from({ length: 20 }, (_, n) => n)
    const entered: number[] = []
    for (const n of tries) {
      fixture.clock.ahead += 31_000
      await fixture.logIn('hurried', `hurried ${n} times`).then(
        () => entered.push(n),
        () => {},
      )
    }
    expect(entered).toHaveLength(1)
  })

  it('stays valid if the change is refused, and the refused one leaves no hash', async () => {
    const id = await made('kept')
    await fixture.root.call('POST', '/api/user/manage', { body: { id, action: 'promote' } })
    const body = { id, password: 'not for a peer to set' }
    expect((await fixture.admin.call('PUT', '/api/user/', { body })).code).toBe('RoleTooHigh')
    const poor = { id, password: 'never to be set at all', quota: 1, group: 'nowhere' }
    expect((await fixture.root.call('PUT', '/api/user/', { body: poor })).code).toBe('GroupUnknown')
    expect(await hashesOf(id)).toBe(1)
    expect((await fixture.logIn('kept')).id).toBe(id)
  })

  it('stays valid until the event is stored, even if an append’s outcome is unknown', async () => {
    const id = await made('unsure')
    const { actors } = fixture.core
    const failed = vi
      .spyOn(actors, 'handleTogether')
      .mockRejectedValueOnce(new StoreUnavailable('the answer was lost'))
    const body = { id, password: 'maybe it is set' }
    expect((await fixture.root.call('PUT', '/api/user/', { body })).status).toBe(503)
    failed.mockRestore()
    expect((await fixture.logIn('unsure')).id).toBe(id)
    expect((await fixture.root.call('PUT', '/api/user/', { body })).success).toBe(true)
    expect((await fixture.logIn('unsure', body.password)).id).toBe(id)
  })
})

describe('the sessions of a user', () => {
  it('end together with a ban, a change of level or a deletion', async () => {
    for (const action of ['disable', 'promote', 'delete']) {
      const id = await made(`over-${action}`)
      await fixture.logIn(`over-${action}`)
      expect(await sessionsOf(id)).toBe(1)
      await fixture.root.call('POST', '/api/user/manage', { body: { id, action } })
      expect(await sessionsOf(id)).toBe(0)
    }
  })

  it('continue if nothing changed', async () => {
    const { id } = fixture.admin
    await fixture.root.call('POST', '/api/user/manage', { body: { id, action: 'promote' } })
    expect((await fixture.admin.call('GET', '/api/user/self')).status).toBe(200)
  })
})

describe('the quota of a user', () => {
  it('cannot be changed by an admin before the user’s promotion is in the read model', async () => {
    const id = await made('risen')
    const { core } = fixture
    await fixture.root.call('POST', '/api/user/manage', { body: { id, action: 'promote' } })
    await core.pg.query('update read_users.users set role = 1 where id = $1', [id])
    const body = { id, quota: 5_000 }
    expect((await fixture.admin.call('PUT', '/api/user/', { body })).code).toBe('RoleTooHigh')
    expect((await fixture.root.call('PUT', '/api/user/', { body })).success).toBe(true)
    await core.pg.query('update read_users.users set role = 10 where id = $1', [id])
  })
})

describe('guesses at a mail address', () => {
  it('do not slow down logins by username, which would reveal the owner', async () => {
    await made('hidden')
    const { call } = await fixture.logIn('hidden')
    const email = 'hidden@example.com'
    const code = await fixture.codeFor(email, call)
    await call('GET', `/api/oauth/email/bind?${new URLSearchParams({ email, code })}`)
    const guess = (username: string) =>
      fixture.anybody('POST', '/api/user/login', { body: { username, password: 'wrong one' } })
    for (const address of [email, 'nobody@example.com']) {
      fixture.clock.ahead += 60_000
      const waits: number[] = []
      for (let n = 0; n < 7; n += 1) waits.push((await guess(address)).status)
      expect(waits).toEqual([200, 200, 200, 200, 200, 429, 429])
    }
    fixture.clock.ahead += 60_000
    expect((await guess('hidden')).code).toBe('WrongCredentials')
    fixture.clock.ahead += 60_000
    const body = { username: email, password: PASSWORD }
    expect((await fixture.anybody('POST', '/api/user/login', { body })).success).toBe(true)
  })
})
