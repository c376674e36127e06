import { beforeEach, describe, expect, it, vi } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
beforeEach(() => {
  fixture.clock.ahead += 3_600_000
})

const tryLogin = (username: string, password: string) =>
  fixture.anybody('POST', '/api/user/login', { body: { username, password } })

const newUser = async (username: string): Promise<number> => {
  const body = { username, password: PASSWORD }
  return (await fixture.root.call<{ id: number }>('POST', '/api/user/', { body })).data.id
}
const manage = (id: number, action: string) =>
  fixture.root.call('POST', '/api/user/manage', { body: { id, action } })

describe('logging in', () => {
  it('answers the user’s data, for the name in any case or width', async () => {
    for (const name of ['user1', 'USER1', ' ｕｓｅｒ１ ']) {
      expect(await tryLogin(name, PASSWORD)).toMatchObject({
        status: 200,
        success: true,
        data: {
          id: 3,
          username: 'user1',
          display_name: 'user1',
          role: 1,
          status: 1,
          group: 'default',
        },
      })
    }
  })

  it('gives the same answer for a wrong password and an unknown name', async () => {
    const wrong = await tryLogin('user1', 'wrong password')
    const unknown = await tryLogin('nobody', 'wrong password')
    expect(wrong).toMatchObject({ success: false, message: '用户名或密码错误' })
    expect([unknown.message, unknown.code]).toEqual([wrong.message, wrong.code])
  })

  it('waits for a read model that does not have the user yet', async () => {
    const { core, freshness } = fixture
    const real = freshness.waitFor
    const waits = vi.spyOn(freshness, 'waitFor').mockResolvedValueOnce(false)
    const stalled = await core.pg.connect()
    await stalled.query('begin; lock table read_users.users in exclusive mode')
    await newUser('hasty')
    expect(waits).toHaveBeenCalledOnce()
    waits.mockImplementationOnce(async (...asked) => {
      await stalled.query('rollback')
      return real(...asked)
    })
    expect(await tryLogin('hasty', PASSWORD)).toMatchObject({ success: true })
    expect(waits).toHaveBeenCalledTimes(2)
    stalled.release()
    waits.mockRestore()
  })

  it('starts a new session each time and ends the one it replaces', async () => {
    const first = await fixture.logIn('user1')
    const headers = { cookie: first.cookie, 'content-type': 'application/json' }
    const answer = await fixture.app.inject({
      method: 'POST',
      url: '/api/user/login',
      headers,
      payload: { username: 'user1', password: PASSWORD },
    })
    expect(`session=${answer.cookies[0]?.value}`).not.toBe(first.cookie)
    expect((await first.call('GET', '/api/user/self')).status).toBe(401)
  })

  it('is delayed, but never locked, for an account with wrong passwords', async () => {
    for (let n = 0; n < 5; n += 1) await tryLogin('admin1', 'wrong password')
    await tryLogin('admin1', 'wrong password')
    const slowed = await tryLogin('admin1', PASSWORD)
    expect(slowed.status).toBe(429)
    expect(Number(slowed.headers['retry-after'])).toBeGreaterThan(0)
    fixture.clock.ahead += 31_000
    expect((await tryLogin('admin1', PASSWORD)).success).toBe(true)
  })

  it('counts the spellings of a mail address as one account', async () => {
    const spellings = ['Ann@BÜCHER.example', 'ann@xn--bcher-kva.example', 'ａnn@bücher.example']
    for (const name of spellings) {
      for (let n = 0; n < 2; n += 1) await tryLogin(name, 'wrong password')
    }
    expect((await tryLogin('ann@bu\u0308cher.example', 'wrong password')).status).toBe(429)
  })

  it('is delayed for an IP address after ten wrong passwords a minute', async () => {
    for (let n = 0; n < 10; n += 1) await tryLogin(`nobody${n}`, 'wrong password')
    expect((await tryLogin('user1', PASSWORD)).status).toBe(429)
    fixture.clock.ahead += 60_000
    expect((await tryLogin('user1', PASSWORD)).success).toBe(true)
  })
})

describe('logging out', () => {
  it.each(['GET', 'POST'] as const)('ends the session on the server, by %s', async (method) => {
    const session = await fixture.logIn('user1')
    const answer = await session.call(method, '/api/user/logout')
    expect(answer.success).toBe(true)
    expect(String(answer.headers['set-cookie'])).toMatch(/^session=;/)
    expect((await session.call('GET', '/api/user/self')).status).toBe(401)
  })
})

describe('a change to a user or to the login settings', () => {
  it.each(['disable', 'delete', 'promote'])(
    '%s ends the user’s sessions at once',
    async (action) => {
      const id = await newUser(`changed-${action}`)
      const session = await fixture.logIn(`changed-${action}`)
      expect((await session.call('GET', '/api/user/self')).status).toBe(200)
      expect((await manage(id, action)).success).toBe(true)
      expect((await session.call('GET', '/api/user/self')).status).toBe(401)
    },
  )

  it('a banned user learns of the ban at login, but only with the right password', async () => {
    const id = await newUser('banned')
    await manage(id, 'disable')
    expect(await tryLogin('banned', PASSWORD)).toMatchObject({ message: '用户已被封禁' })
    expect(await tryLogin('banned', 'wrong password')).toMatchObject({ code: 'WrongCredentials' })
    await manage(id, 'enable')
    expect((await tryLogin('banned', PASSWORD)).success).toBe(true)
  })

  it('a new password keeps this session and ends the others', async () => {
    await newUser('careful')
    const here = await fixture.logIn('careful')
    const there = await fixture.logIn('careful')
    const change = (original_password: string) =>
      here.call('PUT', '/api/user/self', { body: { password: 'another one', original_password } })
    expect(await change('wrong password')).toMatchObject({ message: '原密码错误' })
    const changed = await change(PASSWORD)
    expect(changed.success).toBe(true)
    expect((await there.call('GET', '/api/user/self')).status).toBe(401)
    const cookie = String(changed.headers['set-cookie']).split(';')[0] ?? ''
    const still = await fixture.anybody('GET', '/api/user/self', {
      headers: { cookie, 'user-id': String(here.id) },
    })
    expect(still.status).toBe(200)
    expect(await tryLogin('careful', PASSWORD)).toMatchObject({ success: false })
    expect(await tryLogin('careful', 'another one')).toMatchObject({ success: true })
  })

  it('the super admin can still log in when password login is disabled', async () => {
    const put = (value: string) =>
      fixture.root.call('PUT', '/api/option/', { body: { key: 'PasswordLoginEnabled', value } })
    expect((await put('false')).success).toBe(true)
    // The answer does not reveal whether the name exists or the password is right.
    for (const [name, password] of [
      ['user1', PASSWORD],
      ['user1', 'wrong password'],
      ['nobody', PASSWORD],
      ['root', 'wrong password'],
    ] as const) {
      expect(await tryLogin(name, password)).toMatchObject({ code: 'PasswordLoginDisabled' })
    }
    expect(await tryLogin('root', PASSWORD)).toMatchObject({ success: true })
    await put('true')
  })
})
