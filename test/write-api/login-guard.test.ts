import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryLimits, type MemoryLimits } from '#infra/limits/memory-limits.ts'
import { createLoginGuard } from '#write-api/session/login-guard.ts'

let limits: MemoryLimits
afterEach(() => limits.close())

const guardAt = () => {
  const clock = { now: 1_000_000 }
  limits = createMemoryLimits(() => clock.now)
  const guard = createLoginGuard(limits, { keyedHash: (purpose, text) => `${purpose} ${text}` })
  return {
    clock,
    guard,
    waitOf: async (ip: string, account: string) => (await guard.enter(ip, account)).waitSeconds,
  }
}

describe('the login guard', () => {
  it('doubles the wait of an account after five wrong tries, to 30 seconds at most', async () => {
    const { clock, waitOf } = guardAt()
    const waits: number[] = []
    for (let n = 0; n < 13; n += 1) {
      const wait = await waitOf(`10.0.0.${n}`, 'a')
      waits.push(wait)
      clock.now += wait * 1_000
      if (wait > 0) await waitOf(`10.0.1.${n}`, 'a')
    }
    expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30])
  })

  it('forgets an account that got in, and leaves others alone', async () => {
    const { guard, waitOf } = guardAt()
    for (let n = 0; n < 4; n += 1) await waitOf(`10.0.0.${n}`, 'a')
    const right = await guard.enter('10.0.0.4', 'a')
    expect(await waitOf('10.0.0.9', 'b')).toBe(0)
    expect(await waitOf('10.0.0.9', 'a')).toBe(1)
    right.succeeded()
    expect(await waitOf('10.0.0.9', 'a')).toBe(0)
  })

  it('gives an address ten wrong tries a minute, and does not count the right ones', async () => {
    const { clock, guard, waitOf } = guardAt()
    for (let n = 0; n < 100; n += 1) {
      const right = await guard.enter('10.0.0.1', `right ${n}`)
      expect(right.waitSeconds).toBe(0)
      right.succeeded()
    }
    for (let n = 0; n < 10; n += 1) expect(await waitOf('10.0.0.1', `wrong ${n}`)).toBe(0)
    expect(await waitOf('10.0.0.1', 'other')).toBe(60)
    clock.now += 60_000
    expect(await waitOf('10.0.0.1', 'other')).toBe(0)
  })

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
    ['2001:db8::1', '2001:DB8:0:0:1::', '2001:db8:0:1::1'],
    ['::ffff:10.0.0.1', '10.0.0.1', '::ffff:10.0.0.2'],
  ])('counts %s and %s as one address, and %s as another', async (one, same, other) => {
    const { waitOf } = guardAt()
    for (let n = 0; n < 10; n += 1) await waitOf(one, `wrong ${n}`)
    expect(await waitOf(same, 'x')).toBe(60)
    expect(await waitOf(other, 'x')).toBe(0)
  })

  it('counts tries that are made at once before it knows how they end', async () => {
    const { waitOf } = guardAt()
    const waits = await Promise.all(Array.from({ length: 50 }, () => waitOf('10.0.0.1', 'a')))
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5)
  })
})
