import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryLimits, type MemoryLimits } from '#infra/limits/memory-limits.ts'
import { createLoginGuard } from '#write-api/sessions/login-throttling.ts'

let limits: MemoryLimits
afterEach(() => limits.close())

const guardAt = () => {
  const clock = { now: 1_000_000 }
  limits = createMemoryLimits(() => clock.now)
  const vault = { keyedHash: (purpose: string, text: string) => `${purpose} ${text}` }
  const pause = async (ms: number) => {
    clock.now += ms
  }
  const guard = createLoginGuard(limits, vault, pause)
  return {
    clock,
    guard,
    waitOf: async (ip: string, account: string, device?: string) =>
      (await guard.enter(ip, account, device)).waitSeconds,
  }
}

/** Creates a guard on a simulated clock. Its pauses end when the clock reaches their end. */
const guardInVirtualTime = () => {
  const clock = { now: 1_000_000 }
  limits = createMemoryLimits(() => clock.now)
  const vault = { keyedHash: (purpose: string, text: string) => `${purpose} ${text}` }
  let sleepers: { readonly at: number; readonly wake: () => void }[] = []
  const pause = (ms: number) =>
    new Promise<void>((wake) => sleepers.push({ at: clock.now + ms, wake }))
  const runUntil = async (at: number): Promise<void> => {
    for (;;) {
      await new Promise(setImmediate)
      const next = Math.min(at, ...sleepers.map((sleeper) => sleeper.at))
      clock.now = Math.max(clock.now, next)
      const due = sleepers.filter((sleeper) => sleeper.at <= clock.now)
      if (due.length === 0) return
      sleepers = sleepers.filter((sleeper) => !due.includes(sleeper))
      for (const { wake } of due) wake()
    }
  }
  return { clock, guard: createLoginGuard(limits, vault, pause), runUntil }
}

/**
 * Returns how many passwords the given number of addresses can try, if each tries as often as it is
 * allowed to.
 */
async function guessesOf(addresses: number, hours = 1): Promise<number> {
  const { clock, waitOf } = guardAt()
  const nextAt = Array.from({ length: addresses }, () => clock.now)
  const end = clock.now + hours * 3_600_000
  let guesses = 0
  while (clock.now < end) {
    for (const [n, at] of nextAt.entries()) {
      if (at > clock.now) continue
      const wait = await waitOf(`10.0.${n >> 8}.${n & 255}`, 'a')
      if (wait === 0) guesses += 1
      nextAt[n] = clock.now + wait * 1_000
    }
    clock.now += 250
  }
  return guesses
}

describe('the login guard', () => {
  it('doubles the wait of an account at an IP address after five wrong passwords', async () => {
    const { clock, waitOf } = guardAt()
    const waits: number[] = []
    for (let n = 0; n < 10; n += 1) {
      const wait = await waitOf('10.0.0.1', 'a')
      waits.push(wait)
      clock.now += wait * 1_000
      if (wait > 0) await waitOf('10.0.0.1', 'a')
    }
    expect(waits.slice(0, 9)).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8])
    expect(await waitOf('10.0.0.2', 'a')).toBe(0)
  })

  it('forgets an account’s attempts after its login, and counts each account apart', async () => {
    const { guard, waitOf } = guardAt()
    for (let n = 0; n < 4; n += 1) await waitOf('10.0.0.1', 'a')
    const right = await guard.enter('10.0.0.1', 'a')
    expect(await waitOf('10.0.0.1', 'b')).toBe(0)
    expect(await waitOf('10.0.0.1', 'a')).toBe(1)
    right.succeeded()
    expect(await waitOf('10.0.0.1', 'a')).toBe(0)
  })

  it('allows an IP address ten wrong passwords a minute, not counting right ones', async () => {
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

  it('counts concurrent attempts before their outcome is known', async () => {
    const { waitOf } = guardAt()
    const waits = await Promise.all(Array.from({ length: 50 }, () => waitOf('10.0.0.1', 'a')))
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5)
  })
})

describe('the owner of an account under attack', () => {
  it.each([4, 200])(
    'logs in at the first right attempt while %i addresses guess',
    async (attackers) => {
      const { clock, guard, waitOf } = guardAt()
      for (let ms = 0; ms < 20_000; ms += 150) {
        for (let n = 0; n < attackers; n += 1) {
          // A login that must wait moves the clock of this test to the end of its wait.
          if ((ms / 150 + n) % 20 === 0) await waitOf(`10.0.1.${n}`, 'root')
        }
        clock.now += 150
      }
      const before = clock.now
      const owner = await guard.enter('10.9.9.9', 'root')
      expect(owner.waitSeconds).toBe(0)
      expect(clock.now - before).toBeLessThan(5_000)
      owner.succeeded()
    },
  )

  it.each([
    ['IPv6 addresses of one /48', (n: number) => `2001:470:1:${n.toString(16)}::1`],
    ['IPv4 addresses of one /24', (n: number) => `198.51.100.${n % 256}`],
  ])('is not kept out by fifty attempts a second from %s', async (_name, addressOf) => {
    const { clock, guard, runUntil } = guardInVirtualTime()
    for (let n = 0; n < 30; n += 1) await guard.enter(`10.${n}.0.1`, 'root')
    let attackers = 0
    const attack = async (ms: number): Promise<void> => {
      for (const end = clock.now + ms; clock.now < end; ) {
        attackers += 5
        for (let n = 0; n < 5; n += 1) void guard.enter(addressOf(attackers + n), 'root')
        await runUntil(clock.now + 100)
      }
    }
    await attack(30_000)
    const waits: number[] = []
    for (let n = 0; n < 6; n += 1) {
      // Each of two owners mistypes the password twice.
      const entered = guard.enter(`203.0.${n % 2}.9`, 'root')
      void entered.then(({ waitSeconds }) => waits.push(waitSeconds))
    }
    await attack(14_000)
    expect(waits).toEqual([0, 0, 0, 0, 0, 0])
  })

  it('has separate attempts in a known browser, even at the attacker’s address', async () => {
    const { waitOf } = guardAt()
    for (let n = 0; n < 60; n += 1) await waitOf(`10.0.0.${n % 8}`, 'root')
    for (let n = 0; n < 5; n += 1) expect(await waitOf('10.0.0.1', 'root', 'browser')).toBe(0)
    expect(await waitOf('10.0.0.1', 'root', 'browser')).toBe(1)
    expect(await waitOf('10.0.0.1', 'root', 'other browser')).toBe(0)
  })

  it('has attempts in each session that no other session uses up', async () => {
    const { guard } = guardAt()
    for (let n = 0; n < 5; n += 1) await guard.enterSession('stolen')
    expect((await guard.enterSession('stolen')).waitSeconds).toBe(1)
    expect((await guard.enterSession('own')).waitSeconds).toBe(0)
  })
})

describe('password guessing', () => {
  it('from four addresses gets between 30 and 100 attempts an hour', async () => {
    const guesses = await guessesOf(4)
    expect(guesses).toBeGreaterThan(30)
    expect(guesses).toBeLessThan(100)
  })

  it('from 200 addresses gets a limited number of attempts an hour', async () => {
    const guesses = await guessesOf(200)
    expect(guesses).toBeLessThan(30 + 200 * 13)
  })
})
