import { describe, expect, it } from 'vitest'
import type { User } from '#read-api/contract/users.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type Caller, fifty, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

const create = (username: string, call: Caller = fixture.admin.call) =>
  call<{ id: number }>('POST', '/api/user/', { body: { username, password: PASSWORD } })
const made = async (username: string): Promise<number> => (await create(username)).data.id
const read = async (id: number): Promise<User> =>
  (await fixture.root.call<User>('GET', `/api/user/${id}`)).data
const put = (body: object, call: Caller = fixture.admin.call) => call('PUT', '/api/user/', { body })
const manage = (id: number, action: string, call: Caller = fixture.admin.call) =>
  call('POST', '/api/user/manage', { body: { id, action } })

describe('creating users', () => {
  it('gives each user the quota for new users', async () => {
    const option = { key: 'QuotaForNewUser', value: '1234' }
    await fixture.root.call('PUT', '/api/option/', { body: option })
    const id = await made('gifted')
    expect(await read(id)).toMatchObject({ username: 'gifted', role: 1, quota: 1234, status: 1 })
    await fixture.root.call('PUT', '/api/option/', { body: { ...option, value: '0' } })
    expect(await read(await made('poor'))).toMatchObject({ quota: 0 })
  })

  it('creates one user when fifty requests use one name in any case', async () => {
    const answers = await fifty((n) => create(n % 2 === 0 ? 'Racer' : 'rACER'))
    const refused = answers.filter(({ success }) => !success)
    expect(refused).toHaveLength(49)
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['UsernameTaken']))
  })

  it('gives ids in an unbroken sequence for fifty names at once', async () => {
    const before = await made('counted')
    const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => made(`counted${n}`)))
    expect(ids.sort((one, other) => one - other)).toEqual(
      Array.from({ length: 50 }, (_, n) => before + 1 + n),
    )
  })

  it.each([
    ['', PASSWORD, '用户名和密码不能为空！'],
    ['someone', '', '用户名和密码不能为空！'],
    ['someone', 'short', '密码长度不得小于 8 位！'],
    ['some one', PASSWORD, '空白'],
    ['user1', PASSWORD, '用户名已被占用'],
  ])('refuses "%s" with "%s": %s', async (username, password, message) => {
    const head = await fixture.head()
    const body = { username, password }
    const answer = await fixture.admin.call('POST', '/api/user/', { body })
    expect(answer).toMatchObject({ status: 200, success: false })
    expect(answer.message).toContain(message)
    expect(await fixture.head()).toBe(head)
  })
})

describe('a display name', () => {
  const AT_MOST = '😀'.repeat(50)

  it.each([
    ['of 51 characters', `${AT_MOST}x`],
    ['with what can not be seen', 'root\u202e'],
  ])(
    '%s is refused by the name of the field in every route that sets it',
    async (_, display_name) => {
      const { id, call } = fixture.user
      const head = await fixture.head()
      const fresh = { username: 'shown', password: PASSWORD, display_name }
      const answers = [
        await fixture.admin.call('POST', '/api/user/', { body: fresh }),
        await put({ id, display_name }),
        await call('PUT', '/api/user/self', { body: { display_name } }),
      ]
      for (const { status, code, message } of answers) {
        expect([status, code]).toEqual([400, 'InvalidField'])
        expect(message).toContain('display_name')
      }
      expect(await fixture.head()).toBe(head)
      expect((await put({ id, display_name: AT_MOST })).success).toBe(true)
      // An empty display name is replaced by the username, as for a new user.
      expect((await put({ id, display_name: ' ' })).success).toBe(true)
      expect(await read(id)).toMatchObject({ display_name: 'user1' })
      await call('PUT', '/api/user/self', { body: { display_name: 'Me' } })
      expect((await call('PUT', '/api/user/self', { body: { display_name: '' } })).success).toBe(
        true,
      )
      expect(await read(id)).toMatchObject({ display_name: 'user1' })
    },
  )
})

describe('changing users', () => {
  it('grants or deducts the difference to the given quota', async () => {
    const id = await made('rich')
    await put({ id, quota: 5_000 })
    expect(await read(id)).toMatchObject({ quota: 5_000 })
    await put({ id, quota: 1_200 })
    expect(await read(id)).toMatchObject({ quota: 1_200 })
    const events = await fixture.core.store.readStream(`account-${id}`)
    expect(
      events.slice(-2).map(({ type, data }) => [type, 'amount' in data && data.amount]),
    ).toEqual([
      ['QuotaGranted', 5_000],
      ['QuotaDeducted', 3_800],
    ])
  })

  it('refuses a quota below zero, and the message names the field', async () => {
    const id = await made('negative')
    const head = await fixture.head()
    expect(await put({ id, quota: -1, display_name: 'N' })).toMatchObject({
      status: 400,
      code: 'InvalidField',
      message: '参数 quota 无效：不能小于 0',
    })
    expect(await fixture.head()).toBe(head)
  })

  it('accepts a row as it was read, and writes nothing', async () => {
    const row = await read(await made('same'))
    const head = await fixture.head()
    expect((await put(row)).success).toBe(true)
    expect(await fixture.head()).toBe(head)
  })

  it('ignores fields that cannot be changed', async () => {
    const id = await made('modest')
    await put({ id, role: 100, status: 2, username: 'other', used_quota: 5, display_name: 'M' })
    expect(await read(id)).toMatchObject({
      role: 1,
      status: 1,
      username: 'modest',
      display_name: 'M',
    })
  })

  it('refuses an unknown group, and then changes no other field', async () => {
    const id = await made('grouped')
    const answer = await put({ id, group: 'constructor', quota: 9, display_name: 'G' })
    expect(answer).toMatchObject({ success: false, code: 'GroupUnknown' })
    expect(await read(id)).toMatchObject({ group: 'default', quota: 0, display_name: 'grouped' })
    expect((await put({ id, group: 'vip' })).success).toBe(true)
    expect(await read(id)).toMatchObject({ group: 'vip' })
  })

  it('sets a password that works, and ends the sessions of the user', async () => {
    const id = await made('forgot')
    const session = await fixture.logIn('forgot')
    expect((await put({ id, password: 'given by admin' })).success).toBe(true)
    expect((await session.call('GET', '/api/user/self')).status).toBe(401)
    expect((await fixture.logIn('forgot', 'given by admin')).id).toBe(id)
  })
})

describe('user levels', () => {
  it('an admin cannot change any admin or the super admin, not even the quota', async () => {
    const other = await made('admin2')
    await manage(other, 'promote', fixture.root.call)
    const head = await fixture.head()
    const answers = await Promise.all([
      ...[1, 2, other].map((id) => put({ id, quota: 1 })),
      ...[1, 2, other].map((id) => put({ id, password: 'taken over' })),
      ...[1, other].flatMap((id) =>
        ['demote', 'disable', 'delete'].map((action) => manage(id, action)),
      ),
    ])
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set(['RoleTooHigh']))
    expect(await fixture.head()).toBe(head)
  })

  it('only a super admin promotes, and a super admin is protected', async () => {
    const id = await made('climber')
    expect(await manage(id, 'promote')).toMatchObject({ code: 'OnlySuperAdminPromotes' })
    expect(await manage(id, 'promote', fixture.root.call)).toMatchObject({
      data: { role: 10, status: 1 },
    })
    for (const action of ['demote', 'disable', 'delete']) {
      expect(await manage(1, action, fixture.root.call)).toMatchObject({
        code: 'SuperAdminProtected',
      })
    }
  })

  it('only a super admin appoints and changes auditors', async () => {
    const id = await made('inspector')
    const appoint = (call?: Caller) => manage(id, 'appoint_auditor', call)
    expect(await appoint()).toMatchObject({ code: 'OnlySuperAdminPromotes' })
    expect(await appoint(fixture.root.call)).toMatchObject({ data: { role: 5, status: 1 } })
    for (const action of ['demote', 'disable', 'delete']) {
      expect(await manage(id, action)).toMatchObject({ code: 'RoleTooHigh' })
    }
    expect(await put({ id, quota: 7 })).toMatchObject({ code: 'RoleTooHigh' })
    const demoted = await manage(id, 'demote', fixture.root.call)
    expect(demoted).toMatchObject({ data: { role: 1, status: 1 } })
  })

  it('the super admin cannot set the own password without the current one', async () => {
    const body = { id: 1, password: 'another password' }
    const answer = await fixture.root.call('PUT', '/api/user/', { body })
    expect(answer).toMatchObject({ success: false, code: 'OwnPasswordElsewhere' })
    await fixture.logIn('root')
  })

  it('a super admin may set the own quota', async () => {
    expect((await put({ id: 1, quota: 7 }, fixture.root.call)).success).toBe(true)
    expect(await read(1)).toMatchObject({ quota: 7 })
  })

  it('disabling and enabling a user answer the new status', async () => {
    const id = await made('switched')
    expect(await manage(id, 'disable')).toMatchObject({ data: { status: 2, role: 1 } })
    expect(await manage(id, 'enable')).toMatchObject({ data: { status: 1, role: 1 } })
    expect(await manage(999_999, 'enable')).toMatchObject({ status: 404 })
  })
})

it('a user who deletes the own account is logged out everywhere and cannot return', async () => {
  const id = await made('leaver')
  const [here, there] = [await fixture.logIn('leaver'), await fixture.logIn('leaver')]
  // The session alone does not suffice half an hour after the login.
  fixture.clock.ahead += 31 * 60_000
  expect((await here.call('DELETE', '/api/user/self')).code).toBe('ProofNotRecent')
  await here.call('POST', '/api/user/proof', { body: { password: PASSWORD } })
  const answer = await here.call('DELETE', '/api/user/self')
  expect(answer).toMatchObject({ status: 200, success: true })
  expect(String(answer.headers['set-cookie'])).toMatch(/^session=;/)
  for (const { call } of [here, there]) {
    expect((await call('GET', '/api/user/self')).status).toBe(401)
  }
  const body = { username: 'leaver', password: PASSWORD }
  expect((await fixture.anybody('POST', '/api/user/login', { body })).success).toBe(false)
  expect(await read(id)).toMatchObject({ username: 'leaver', DeletedAt: expect.any(String) })
})
