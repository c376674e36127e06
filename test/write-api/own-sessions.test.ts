import { describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { callerOf, PASSWORD, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)

type Listed = {
  readonly id: number
  readonly ip: string
  readonly user_agent: string
  readonly seen_at: number
  readonly is_current: boolean
}[]

async function logInFrom(username: string, userAgent: string) {
  const answer = await fixture.app.inject({
    method: 'POST',
    url: '/api/user/login',
    headers: { 'user-agent': userAgent },
    payload: { username, password: PASSWORD },
  })
  const cookie = `session=${answer.cookies[0]?.value}`
  const id = String(answer.json().data.id)
  return callerOf(fixture.app, { cookie, 'user-id': id })
}

const newUser = async (username: string) =>
  (await fixture.root.call('POST', '/api/user/', { body: { username, password: PASSWORD } })).data

describe('the sessions of a user', () => {
  it('are listed with device and address, and can be ended one by one', async () => {
    await newUser('alice')
    const here = await logInFrom('alice', 'Browser A')
    const there = await logInFrom('alice', `Browser B${'x'.repeat(500)}`)
    const { data } = await here<Listed>('GET', '/api/user/sessions')
    expect(data).toHaveLength(2)
    const [current, other] = [
      data.find((one) => one.is_current),
      data.find((one) => !one.is_current),
    ]
    expect(current).toMatchObject({ user_agent: 'Browser A', ip: '127.0.0.1' })
    expect(other?.user_agent).toMatch(/^Browser Bx{291}$/)
    expect((await here('DELETE', `/api/user/sessions/${other?.id}`)).success).toBe(true)
    expect((await there('GET', '/api/user/self')).status).toBe(401)
    expect((await here('GET', '/api/user/self')).status).toBe(200)
    expect((await here('DELETE', `/api/user/sessions/${other?.id}`)).status).toBe(404)
  })

  it('cannot be ended by another user, not even by an admin', async () => {
    await newUser('bob')
    const bob = await logInFrom('bob', 'Browser')
    const [own] = (await bob<Listed>('GET', '/api/user/sessions')).data
    for (const { call } of [fixture.user, fixture.admin, fixture.root]) {
      expect((await call('DELETE', `/api/user/sessions/${own?.id}`)).status).toBe(404)
    }
    expect((await bob('GET', '/api/user/self')).status).toBe(200)
  })

  it('can be ended all at once, except the current one', async () => {
    await newUser('carol')
    const callers = await Promise.all(['A', 'B', 'C'].map((name) => logInFrom('carol', name)))
    const [here, ...others] = callers
    expect((await here?.('DELETE', '/api/user/sessions'))?.success).toBe(true)
    for (const call of others) expect((await call('GET', '/api/user/self')).status).toBe(401)
    expect((await here?.<Listed>('GET', '/api/user/sessions'))?.data).toHaveLength(1)
  })

  it('leave the list after a password change and when they expire', async () => {
    await newUser('dave')
    const here = await logInFrom('dave', 'A')
    await logInFrom('dave', 'B')
    const changed = await here('PUT', '/api/user/self', {
      body: { password: 'another one', original_password: PASSWORD },
    })
    const cookie = String(changed.headers['set-cookie']).split(';')[0] ?? ''
    const { data } = await fixture.anybody<Listed>('GET', '/api/user/sessions', {
      headers: { cookie, 'user-id': String((await idOf('dave')) ?? '') },
    })
    expect(data).toHaveLength(1)
    fixture.clock.ahead += 13 * 3_600_000
    const late = await fixture.logIn('dave', 'another one')
    expect((await late.call<Listed>('GET', '/api/user/sessions')).data).toHaveLength(1)
  })
})

const idOf = async (username: string): Promise<number | undefined> => {
  const { rows } = await fixture.core.pg.query(
    'select id from read_users.users where username = $1',
    [username],
  )
  return Number(rows[0]?.id)
}
