import { describe, expect, it } from 'vitest'
import { type FailedLogin, FailedLoginTallies } from '#write-api/sessions/tally-failed-logins.ts'

const failed = (more: Partial<FailedLogin> = {}): FailedLogin => ({
  ...{ reason: 'wrong-password', userId: 7, urgency: 0, ip: '203.0.113.5', at: 1_000 },
  ...more,
})
const sumOf = (tallies: readonly { readonly count: number }[]): number =>
  tallies.reduce((sum, { count }) => sum + count, 0)

describe('the tallies of failed logins', () => {
  it('add up attempts at one account from one network, with the reasons', () => {
    const tallies = new FailedLoginTallies()
    tallies.add(failed())
    tallies.add(failed({ reason: 'throttled', at: 3_000 }))
    tallies.add(failed({ at: 2_000 }))
    const [tally, ...others] = tallies.drain()
    expect(others).toEqual([])
    expect(tally).toEqual({
      ...{ userId: 7, urgency: 0, from: '203.0.113.5', count: 3 },
      reasons: new Map([
        ['wrong-password', 2],
        ['throttled', 1],
      ]),
      ...{ firstAt: 1_000, lastAt: 3_000 },
    })
    expect(tallies.drain()).toEqual([])
  })

  it.each([
    ['203.0.113.5', '203.0.113.6', '203.0.113.0/24'],
    ['2001:db8:1:2::3', '2001:db8:1:3::4', '2001:db8:1::/48'],
  ])('name the network of %s and %s', (one, other, network) => {
    const tallies = new FailedLoginTallies()
    for (const ip of [one, other, one]) tallies.add(failed({ ip }))
    expect(tallies.drain()).toMatchObject([{ from: network, count: 3 }])
  })

  it('keep accounts and networks apart, up to three networks of an account', () => {
    const tallies = new FailedLoginTallies()
    tallies.add(failed({ userId: 8 }))
    for (let n = 0; n < 200; n += 1) tallies.add(failed({ ip: `198.51.${n}.9` }))
    const taken = tallies.drain()
    expect(taken).toHaveLength(5)
    expect(taken.find(({ from }) => from === null)).toMatchObject({ userId: 7, count: 197 })
    expect(sumOf(taken)).toBe(201)
  })

  it('stay bounded under 50 000 attempts, lose none, and show those at an admin', () => {
    const tallies = new FailedLoginTallies()
    for (let n = 0; n < 50_000; n += 1) {
      const ip = `198.${n % 251}.${n % 241}.${n % 7}`
      tallies.add(failed({ userId: n % 3 === 0 ? null : 100 + (n % 10_007), ip }))
      if (n === 40_000) tallies.add(failed({ userId: 1, urgency: 2, ip: '192.0.2.1' }))
    }
    expect(tallies.size).toBeLessThanOrEqual(1_001)
    const taken = tallies.drain()
    expect(taken).toHaveLength(16)
    expect(taken[0]).toMatchObject({ userId: 1, from: '192.0.2.1', count: 1 })
    expect(taken.at(-1)).toMatchObject({ userId: null, from: null })
    expect(sumOf(taken)).toBe(50_001)
    expect(tallies.size).toBe(0)
  })

  it('show those at an admin before many wrong codes of users whose passwords are known', () => {
    const tallies = new FailedLoginTallies()
    for (let n = 0; n < 2_000; n += 1) tallies.add(failed({ userId: 100 + (n % 20), urgency: 1 }))
    tallies.add(failed({ userId: 1, urgency: 2 }))
    const taken = tallies.drain()
    expect(taken[0]).toMatchObject({ userId: 1, count: 1 })
    expect(sumOf(taken)).toBe(2_001)
  })

  it('stay bounded when one admin is attacked from everywhere', () => {
    const tallies = new FailedLoginTallies()
    for (let n = 0; n < 3_000; n += 1) tallies.add(failed({ userId: n }))
    for (let n = 0; n < 5_000; n += 1) {
      const ip = `10.${n % 256}.${Math.floor(n / 256)}.1`
      tallies.add(failed({ userId: 1, urgency: 2, ip }))
    }
    expect(tallies.size).toBeLessThanOrEqual(1_001)
    const ofAdmin = tallies.drain().filter(({ urgency }) => urgency === 2)
    expect(ofAdmin.length).toBeLessThanOrEqual(5)
    expect(sumOf(ofAdmin)).toBeGreaterThanOrEqual(5_000)
  })

  it('never keep a text that a proxy sent in place of an address', () => {
    const tallies = new FailedLoginTallies()
    tallies.add(failed({ ip: '<script>' }))
    expect(tallies.drain()).toMatchObject([{ from: null, count: 1 }])
  })

  it('can be merged again after they could not be recorded', () => {
    const tallies = new FailedLoginTallies()
    for (const ip of ['203.0.113.5', '203.0.113.6']) tallies.add(failed({ ip }))
    tallies.add(failed({ userId: null, ip: '192.0.2.1' }))
    const taken = tallies.drain()
    for (const tally of taken) tallies.merge(tally)
    tallies.add(failed({ ip: '203.0.113.7' }))
    expect(tallies.drain()).toMatchObject([
      { userId: 7, from: '203.0.113.0/24', count: 3 },
      { userId: null, from: '192.0.2.1', count: 1 },
    ])
  })
})
