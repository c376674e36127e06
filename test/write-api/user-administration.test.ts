import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { beforeAll, describe, expect, it } from 'vitest'
import type { LogEntry, LogOther } from '#read-api/contract/logs.ts'
import type { User } from '#read-api/contract/users.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type Caller, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const made = async (username: string): Promise<number> => {
  const body = { username, password: PASSWORD }
  return (await fixture.root.call<{ id: number }>('POST', '/api/user/', { body })).data.id
}
const read = async (id: number): Promise<User> =>
  (await fixture.root.call<User>('GET', `/api/user/${id}`)).data
const lastLog = async (call: Caller, path: string) => {
  const { data } = await call<{ items: LogEntry[] }>('GET', path)
  const [row] = data.items
  return { row, other: JSON.parse(row?.other ?? '{}') as LogOther }
}

describe('a quota changed by an admin', () => {
  it('logs the admin and the reason for admins only, with no text in the event', async () => {
    const body = { id: 3, quota: 5_000, reason: ' paid by invoice 17 ' }
    expect((await fixture.admin.call('PUT', '/api/user/', { body })).success).toBe(true)
    const [event] = (await fixture.core.store.readStream('account-3')).slice(-1)
    expect(event).toMatchObject({ type: 'QuotaGranted', meta: { actor: 'user:2' } })
    expect(JSON.stringify(event)).not.toContain('invoice')
    const seen = await lastLog(fixture.root.call, '/api/log/?username=user1&type=3')
    expect(seen.other).toEqual({
      changed_by: { id: 2, username: 'admin1' },
      note: 'paid by invoice 17',
    })
    const own = await lastLog(fixture.user.call, '/api/log/self/?type=3')
    expect(own).toMatchObject({ row: { quota: 5_000 }, other: {} })
  })

  it('is logged as without a reason; a reason without a change writes nothing', async () => {
    await fixture.root.call('PUT', '/api/user/', { body: { id: 3, quota: 4_000 } })
    const seen = await lastLog(fixture.root.call, '/api/log/?username=user1&type=3')
    expect(seen).toMatchObject({ row: { quota: -1_000 } })
    expect(seen.other).toEqual({ changed_by: { id: 1, username: 'root' }, note: null })
    const [event] = (await fixture.core.store.readStream('account-3')).slice(-1)
    expect(event?.data).not.toHaveProperty('note')
    const head = await fixture.head()
    await fixture.root.call('PUT', '/api/user/', { body: { id: 3, reason: 'none' } })
    expect(await fixture.head()).toBe(head)
  })
})

describe('a group changed by an admin', () => {
  it('logs the admin and the reason for admins only, with no text in the event', async () => {
    const body = { id: 3, group: 'vip', reason: 'a regular by now' }
    expect((await fixture.admin.call('PUT', '/api/user/', { body })).success).toBe(true)
    const [event] = (await fixture.core.store.readStream('user-3')).slice(-1)
    expect(event).toMatchObject({ type: 'UserGroupChanged', meta: { actor: 'user:2' } })
    expect(JSON.stringify(event)).not.toContain('regular')
    const seen = await lastLog(fixture.root.call, '/api/log/?username=user1&type=3')
    expect(seen).toMatchObject({
      row: { quota: 0, group: 'vip', content: '管理员修改分组' },
      other: { changed_by: { id: 2, username: 'admin1' }, note: 'a regular by now' },
    })
  })

  it.each([
    { group: 'default', reason: ' ' },
    { quota: 77, reason: '' },
  ])('is refused with an empty reason, and the message names the field: %o', async (change) => {
    const head = await fixture.head()
    const answer = await fixture.admin.call('PUT', '/api/user/', { body: { id: 3, ...change } })
    expect(answer).toMatchObject({ success: false, code: 'InvalidField' })
    expect(answer.message).toContain('reason')
    expect(await fixture.head()).toBe(head)
  })
})

describe('a password set in a request that is refused', () => {
  it('leaves no hash behind', async () => {
    const kept = async () =>
      (await fixture.core.pg.query(`select from vault.secrets where owner = 'user:3'`)).rowCount
    const before = await kept()
    const body = { id: 3, quota: -5, password: 'another one' }
    expect((await fixture.root.call('PUT', '/api/user/', { body })).code).toBe('InvalidField')
    expect(await kept()).toBe(before)
  })
})

describe('fields that users cannot set for themselves', () => {
  const WANTED = { role: 100, quota: 9e9, status: 2, group: 'vip', inviter_id: 1, aff_quota: 9e9 }
  const kept = async (id: number) => {
    const { role, quota, status, group, inviter_id, aff_quota } = await read(id)
    return { role, quota, status, group, inviter_id, aff_quota }
  }

  it.each([
    ['PUT', '/api/user/self', { display_name: 'Me' }],
    ['PUT', '/api/user/setting', { show_ip_in_logs: true }],
  ] as const)('stay unchanged under %s %s', async (method, path, own) => {
    const before = await kept(3)
    const answer = await fixture.user.call(method, path, { body: { ...own, ...WANTED } })
    expect(answer.success).toBe(true)
    expect(await kept(3)).toEqual(before)
  })

  it('have their defaults in a new user, whatever the request contains', async () => {
    const body = { username: 'eager', password: PASSWORD, ...WANTED }
    const { data } = await fixture.admin.call<{ id: number }>('POST', '/api/user/', { body })
    expect(await kept(data.id)).toEqual({
      ...{ role: 1, quota: 0, status: 1, group: 'default', inviter_id: 0, aff_quota: 0 },
    })
  })

  it('include the quota and the group of the calling admin', async () => {
    for (const body of [
      { id: 2, quota: 1 },
      { id: 2, group: 'vip' },
    ]) {
      const answer = await fixture.admin.call('PUT', '/api/user/', { body })
      expect(answer).toMatchObject({ success: false, code: 'RoleTooHigh' })
    }
  })
})

describe('hashes, secrets and access tokens', () => {
  const LISTS = ['', 'search?keyword=user', '1', '2', '3', 'self', 'security', 'sessions']
  let plain: string[]
  let kept: string[]

  beforeAll(async () => {
    plain = [PASSWORD]
    for (const { call, cookie } of [fixture.user, fixture.admin, fixture.root]) {
      plain.push(cookie.slice('session='.length), ...(await secured(call)))
    }
    kept = await everyHash()
  })

  /**
   * Sets up every kind of secret for the caller. Returns the secrets that are shown once or never.
   */
  async function secured(call: Caller): Promise<string[]> {
    const webhook = `whs-${randomBytes(12).toString('hex')}`
    const settings = { notify_type: 'webhook', webhook_url: 'https://hooks.example.com/x' }
    const set = { body: { ...settings, webhook_secret: webhook } }
    expect((await call('PUT', '/api/user/setting', set)).success).toBe(true)
    const token = (await call<string>('GET', '/api/user/token')).data
    const proof = { body: { password: PASSWORD } }
    const begun = await call<{ secret: string }>('POST', '/api/user/totp/begin', proof)
    const { secret } = begun.data
    const timestamp = Date.now() + fixture.clock.ahead
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })
    const on = await call<{ recovery_codes: string[] }>('POST', '/api/user/totp', {
      body: { code },
    })
    expect(on.data.recovery_codes.length).toBeGreaterThan(5)
    return [webhook, token, token.slice(4, 24), secret, ...on.data.recovery_codes]
  }

  /** Returns the references into the vault, and the hashes of sessions and access tokens. */
  async function everyHash(): Promise<string[]> {
    const { rows } = await fixture.core.pg.query<{ text: string; kind: string }>(
      `select ref as text, purpose as kind from vault.secrets
       union all select hash, 'session' from auth.sessions
       union all select token_hash, 'token' from read_credentials.credentials
         where token_hash is not null`,
    )
    const kinds = new Set(rows.map(({ kind }) => kind))
    expect([...kinds]).toEqual(
      expect.arrayContaining(['password', 'webhook', 'totp', 'session', 'token']),
    )
    return rows.map(({ text }) => text)
  }

  it.each(['user', 'admin', 'root'] as const)('are in no list that a %s can read', async (who) => {
    const { call } = fixture[who]
    for (const path of LISTS) {
      const { status, data } = await call('GET', `/api/user/${path}`)
      const isOwn = /^[a-z]+$/.test(path)
      expect([path, status]).toEqual([path, who === 'user' && !isOwn ? 403 : 200])
      const text = JSON.stringify(data ?? null)
      expect([path, [...plain, ...kept].filter((one) => text.includes(one))]).toEqual([path, []])
      expect(text).not.toMatch(/argon2|"([a-z_]*(hash|_ref)|password)"/i)
    }
  })

  it('are not even mentioned in answers about users', async () => {
    for (const path of ['', 'search?keyword=user', '3', 'self']) {
      const text = JSON.stringify((await fixture.root.call('GET', `/api/user/${path}`)).data)
      // Only the user's own response contains whether a password is set, and nothing else about it.
      const rest = path === 'self' ? text.replace('"has_password":true', '') : text
      expect(rest).not.toMatch(/argon2|password|session|token|totp/i)
      if (path !== 'self') expect(rest).not.toContain('webhook')
    }
  })
})

it('the last super admin cannot be demoted, disabled or deleted', async () => {
  const body = (action: string) => ({ body: { id: 1, action } })
  for (const action of ['demote', 'disable', 'delete']) {
    const answer = await fixture.root.call('POST', '/api/user/manage', body(action))
    expect(answer).toMatchObject({ success: false, code: 'SuperAdminProtected' })
  }
  expect(await read(1)).toMatchObject({ role: 100, status: 1, DeletedAt: null })
})

it('a ban, a demotion and a deletion end the sessions at once', async () => {
  const root = fixture.root.call
  const session = async (username: string) => (await fixture.logIn(username)).call
  const [banned, demoted, deleted] = [await made('b1'), await made('d1'), await made('x1')]
  await root('POST', '/api/user/manage', { body: { id: demoted, action: 'promote' } })
  const sessions = [await session('b1'), await session('d1'), await session('x1')]
  const acts = ['disable', 'demote', 'delete']
  for (const [at, id] of [banned, demoted, deleted].entries()) {
    await root('POST', '/api/user/manage', { body: { id, action: acts[at] } })
  }
  for (const call of sessions) expect((await call('GET', '/api/user/self')).status).toBe(401)
  expect(await read(deleted)).toMatchObject({ DeletedAt: expect.any(String), is_erased: false })
})
