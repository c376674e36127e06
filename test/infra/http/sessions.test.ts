import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { httpFixture } from './http-fixture.ts'

const fixture = startedOnce(httpFixture)
const HOUR = 3_600_000

beforeAll(async () => {
  fixture.addUser(1, 100)
  fixture.addUser(2, 10)
  fixture.addUser(3, 1)
})

const get = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
  (await fixture.app.inject({ url, headers })).statusCode

describe('a session', () => {
  it('is a cookie of 256 random bits that no script can read, stored as a hash', async () => {
    const answer = await fixture.app.inject({ method: 'POST', url: '/api/enter/3' })
    const cookie = String(answer.headers['set-cookie'])
    expect(cookie).toMatch(/^session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
    const { rows } = await fixture.pg.query('select * from auth.sessions')
    expect(JSON.stringify(rows)).not.toContain(cookie.slice(8, 51))
  })

  it('identifies its user, and requests without it are refused', async () => {
    const headers = await fixture.enter(3)
    expect(await get('/api/mine', headers)).toBe(200)
    expect(await get('/api/mine')).toBe(401)
    expect(await get('/api/mine', { ...headers, cookie: 'session=x' })).toBe(401)
    expect(await get('/api/mine', { ...headers, cookie: `session=${'A'.repeat(43)}` })).toBe(401)
  })

  it.each(['', '4', '03', '3 ', 'NaN'])('is refused with the User-Id "%s"', async (id) => {
    const headers = await fixture.enter(3)
    expect(await get('/api/mine', { ...headers, 'user-id': id })).toBe(401)
  })

  it('ends after 12 idle hours, and after 7 days even when it is used', async () => {
    const start = fixture.clock.now
    const idle = await fixture.enter(3)
    const busy = await fixture.enter(3)
    for (let hours = 0; hours < 7 * 24; hours += 11) {
      fixture.clock.now = start + hours * HOUR
      expect(await get('/api/mine', busy)).toBe(200)
      if (hours === 22) expect(await get('/api/mine', idle)).toBe(401)
    }
    fixture.clock.now = start + 7 * 24 * HOUR + 1
    expect(await get('/api/mine', busy)).toBe(401)
    await fixture.app.gate.sessions.sweep()
    const { rows } = await fixture.pg.query('select 1 from auth.sessions')
    expect(rows).toHaveLength(0)
  })

  it('ends at once when it is revoked or its user is banned, deleted or changed', async () => {
    const user = fixture.users.get(3)
    if (user === undefined) throw new Error('user 3 is missing')
    const headers = await fixture.enter(3)
    for (const change of [{ status: 2 }, { isDeleted: true }, { authVersion: 1 }]) {
      expect(await get('/api/mine', headers)).toBe(200)
      fixture.users.set(3, { ...user, ...change })
      expect(await get('/api/mine', headers)).toBe(401)
      fixture.users.set(3, user)
    }
    await fixture.app.gate.sessions.endAllOf(3)
    expect(await get('/api/mine', headers)).toBe(401)
  })
})

describe('roles', () => {
  it.each([
    ['/api/mine', 200, 200, 200],
    ['/api/admins', 403, 200, 200],
    ['/api/roots', 403, 403, 200],
  ])('%s answers user %i, admin %i, root %i', async (url, user, admin, root) => {
    expect(await get(url, await fixture.enter(3))).toBe(user)
    expect(await get(url, await fixture.enter(2))).toBe(admin)
    expect(await get(url, await fixture.enter(1))).toBe(root)
  })
})

describe('requests that another site causes a browser to send', () => {
  it.each([
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'http://localhost:80' }, 200],
    [{ origin: 'https://localhost' }, 403],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'http://localhost.evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{}, 200],
  ])('a request with %o gets %i', async (extra, status) => {
    expect(await get('/api/mine', { ...(await fixture.enter(3)), ...extra })).toBe(status)
  })
})

describe('headers of every answer', () => {
  it('forbid caching of API answers, and contain the security policy', async () => {
    const { headers } = await fixture.app.inject({ url: '/api/open' })
    expect(headers['cache-control']).toBe('no-store, private')
    expect(headers.vary).toContain('Cookie, Authorization')
    expect(headers['content-security-policy']).toContain("require-trusted-types-for 'script'")
    expect(headers['x-content-type-options']).toBe('nosniff')
  })

  it('forbid inline code on pages by the policy', async () => {
    const { headers } = await fixture.app.inject({ url: '/page' })
    expect(headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self';/)
    expect(headers['content-security-policy']).not.toContain('unsafe')
  })
})

describe('a request whose body arrives slowly', () => {
  let url = ''
  beforeAll(async () => {
    url = await fixture.app.listen({ port: 0, host: '127.0.0.1' })
  })

  /** Sends a request whose body ends after `change` and more than a second. */
  async function answerAfter(change: () => void): Promise<number | undefined> {
    fixture.addUser(20, 10)
    const headers = { ...(await fixture.enter(20)), 'content-type': 'application/json' }
    const request = httpRequest(`${url}/api/admins`, { method: 'POST', headers })
    const answered = once(request, 'response') as Promise<[IncomingMessage]>
    request.write('{"a":')
    await pause(500)
    change()
    await pause(1_000)
    request.end('1}')
    const [response] = await answered
    response.resume()
    return response.statusCode
  }

  it.each([
    ['is served', 200, {}],
    ['is refused if its user is banned meanwhile', 401, { status: 2 }],
    ['is refused if its user loses the role meanwhile', 401, { role: 1, authVersion: 1 }],
  ])('%s', async (_name, status, change) => {
    const answer = await answerAfter(() => {
      const user = fixture.users.get(20)
      if (user !== undefined) fixture.users.set(20, { ...user, ...change })
    })
    expect(answer).toBe(status)
  })
})
