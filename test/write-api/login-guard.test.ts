import { describe, expect, it } from 'vitest'
import { createLoginGuard } from '#write-api/session/login-guard.ts'

const guardAt = () => {
  const clock = { now: 1_000_000 }
  return { clock, guard: createLoginGuard(() => clock.now) }
}

describe('the login guard', () => {
  it('doubles the wait of an account after five wrong tries, to 30 seconds at most', () => {
    const { clock, guard } = guardAt()
    const waits: number[] = []
    for (let n = 0; n < 13; n += 1) {
      const wait = guard.enter(`10.0.0.${n}`, 'a')
      waits.push(wait)
      clock.now += wait * 1_000
      if (wait > 0) guard.enter(`10.0.1.${n}`, 'a')
    }
    expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30])
  })

  it('forgets an account that got in, and leaves others alone', () => {
    const { guard } = guardAt()
    for (let n = 0; n < 5; n += 1) guard.enter(`10.0.0.${n}`, 'a')
    expect(guard.enter('10.0.0.9', 'b')).toBe(0)
    expect(guard.enter('10.0.0.9', 'a')).toBe(1)
    guard.succeeded('10.0.0.4', 'a')
    expect(guard.enter('10.0.0.9', 'a')).toBe(0)
  })

  it('gives an address ten wrong tries a minute, and does not count the right ones', () => {
    const { clock, guard } = guardAt()
    for (let n = 0; n < 100; n += 1) {
      expect(guard.enter('10.0.0.1', `right ${n}`)).toBe(0)
      guard.succeeded('10.0.0.1', `right ${n}`)
    }
    for (let n = 0; n < 10; n += 1) expect(guard.enter('10.0.0.1', `wrong ${n}`)).toBe(0)
    expect(guard.enter('10.0.0.1', 'other')).toBe(60)
    clock.now += 60_000
    expect(guard.enter('10.0.0.1', 'other')).toBe(0)
  })

  it('counts tries that are made at once before it knows how they end', () => {
    const { guard } = guardAt()
    const waits = Array.from({ length: 50 }, () => guard.enter('10.0.0.1', 'a'))
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5)
  })
})
