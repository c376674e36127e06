import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LogEntry, LogOther } from '#read-api/contract/log.ts'
import type { User } from '#read-api/contract/user.ts'
import { type Caller, type FurnishedFixture, furnishedFixture, PASSWORD } from './write-fixture.ts'

let fixture: FurnishedFixture

beforeAll(async () => {
  fixture = await furnishedFixture()
})
afterAll(() => fixture.close())

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

describe('a quota changed by hand', () => {
  it('carries who changed it and why, for admins alone, and no readable text', async () => {
    const body = { id: 3, quota: 5_000, quota_reason: ' paid by invoice 17 ' }
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

  it('needs no reason, and a reason without a change writes nothing', async () => {
    await fixture.root.call('PUT', '/api/user/', { body: { id: 3, quota: 4_000 } })
    const seen = await lastLog(fixture.root.call, '/api/log/?username=user1&type=3')
    expect(seen).toMatchObject({ row: { quota: -1_000 } })
    expect(seen.other).toEqual({ changed_by: { id: 1, username: 'root' }, note: '' })
    const head = await fixture.head()
    await fixture.root.call('PUT', '/api/user/', { body: { id: 3, quota_reason: 'none' } })
    expect(await fixture.head()).toBe(head)
  })
})

describe('fields that nobody gives oneself', () => {
  const WANTED = { role: 100, quota: 9e9, status: 2, group: 'vip', inviter_id: 1, aff_quota: 9e9 }
  const kept = async (id: number) => {
    const { role, quota, status, group, inviter_id, aff_quota } = await read(id)
    return { role, quota, status, group, inviter_id, aff_quota }
  }

  it.each([
    ['PUT', '/api/user/self', { display_name: 'Me' }],
    ['PUT', '/api/user/setting', { show_ip_in_logs: true }],
  ] as const)('stay as they are under %s %s', async (method, path, own) => {
    const before = await kept(3)
    const answer = await fixture.user.call(method, path, { body: { ...own, ...WANTED } })
    expect(answer.success).toBe(true)
    expect(await kept(3)).toEqual(before)
  })

  it('a new user has none of them either', async () => {
    const body = { username: 'eager', password: PASSWORD, ...WANTED }
    const { data } = await fixture.admin.call<{ id: number }>('POST', '/api/user/', { body })
    expect(await kept(data.id)).toEqual({
      ...{ role: 1, quota: 0, status: 1, group: 'default', inviter_id: 0, aff_quota: 0 },
    })
  })

  it('an admin can not change the own quota or group', async () => {
    for (const body of [
      { id: 2, quota: 1 },
      { id: 2, group: 'vip' },
    ]) {
      const answer = await fixture.admin.call('PUT', '/api/user/', { body })
      expect(answer).toMatchObject({ success: false, code: 'RoleTooHigh' })
    }
  })
})

it('no answer about users holds a password, its reference or a session', async () => {
  const { rows } = await fixture.core.pg.query('select ref from vault.secrets')
  const secrets = rows.map(({ ref }) => String(ref))
  expect(secrets.length).toBeGreaterThan(2)
  for (const path of ['', 'search?keyword=user', '3', 'self']) {
    const text = JSON.stringify((await fixture.root.call('GET', `/api/user/${path}`)).data)
    expect(text).not.toMatch(/argon2|password|session|token/i)
    expect(secrets.filter((ref) => text.includes(ref))).toEqual([])
  }
})

it('the last super admin stays, also against the own hand', async () => {
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
