import { beforeEach, describe, expect, it } from 'vitest'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { type Caller, seededFixture } from './write-fixture.ts'

const fixture = startedOnce(seededFixture)
beforeEach(() => {
  fixture.clock.ahead += 60_000
})

const rename = (call: Caller, name: string) =>
  call('PUT', '/api/user/self', { body: { display_name: name } })

describe('the write limit of a normal user', () => {
  it('is 120 calls a minute; the next call gets the time to wait and writes nothing', async () => {
    const { call } = fixture.user
    const names = Array.from({ length: 120 }, (_, n) => rename(call, `name ${n}`))
    expect((await Promise.all(names)).every(({ status }) => status === 200)).toBe(true)
    const head = await fixture.head()
    const refused = await rename(call, 'one more')
    expect([refused.status, refused.code]).toEqual([429, 'TooManyRequests'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(await fixture.head()).toBe(head)
    expect((await call('GET', '/api/user/self')).status).toBe(200)
    fixture.clock.ahead += 60_000
    expect((await rename(call, 'a minute later')).status).toBe(200)
  })

  it('covers all kinds of calls, and counts a batch by its size', async () => {
    const { call } = fixture.user
    const made = async (count: number) =>
      (await call('POST', '/api/token/', { body: { name: 'many', count } })).status
    for (let n = 0; n < 2; n += 1) expect(await made(100)).toBe(200)
    const names = Array.from({ length: 99 }, (_, n) => rename(call, `again ${n}`))
    expect((await Promise.all(names)).every(({ status }) => status === 200)).toBe(true)
    expect(await made(1)).toBe(200)
    expect(await made(1)).toBe(429)
  })

  it('does not count calls that write nothing, and does not apply to admins', async () => {
    for (let n = 0; n < 130; n += 1) {
      await fixture.user.call('POST', '/api/token/', { body: { name: 'none', count: 101 } })
      await fixture.user.call('POST', '/api/user/topup', { body: { key: '' } })
      expect((await rename(fixture.admin.call, `admin ${n}`)).status).toBe(200)
    }
    expect((await rename(fixture.user.call, 'mine')).status).toBe(200)
  })

  it('is 1 000 calls a day', async () => {
    fixture.clock.ahead += 24 * 3_600_000
    const { call } = await fixture.logIn('user1')
    const statuses: number[] = []
    for (let n = 0; n < 101; n += 1) {
      fixture.clock.ahead += 10_000
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_, name) => rename(call, `${n} ${name}`)),
      )
      statuses.push(...claims.map(({ status }) => status))
    }
    expect(statuses.slice(0, 1_000).every((status) => status === 200)).toBe(true)
    expect(statuses.slice(1_000).every((status) => status === 429)).toBe(true)
  })
})
