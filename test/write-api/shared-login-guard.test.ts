import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLoginGuard, type LoginGuard } from '#write-api/sessions/login-throttling.ts'
import { type Opened, openShared, PATIENT_MS } from '../infra/redis/open-shared-limits.ts'
import { type OwnRedis, redisEngine, startOwnRedis } from '../support/test-redis.ts'

const canHarm = redisEngine === 'redis-server'
const reason = canHarm ? '' : ' (skipped: there is no redis-server here)'
const vault = { keyedHash: (purpose: string, text: string) => `${purpose} ${text}` }

describe.skipIf(!canHarm)(`the login guards of two processes${reason}`, () => {
  let server: OwnRedis
  let processes: Opened[]
  let guards: LoginGuard[]
  beforeEach(async () => {
    server = await startOwnRedis()
    const patient = { answerMs: PATIENT_MS }
    processes = [await openShared(server.url, patient), await openShared(server.url, patient)]
    guards = processes.map((limits) => createLoginGuard(limits, vault))
  })
  afterEach(async () => {
    for (const limits of processes) await limits.close()
    await server.stop()
  })

  /** Returns how many attempts were allowed, if `each` are made at each process. */
  const triesOf = async (each: number, ipOf: (n: number) => string, account: string) => {
    const made = guards.flatMap((guard) =>
      Array.from({ length: each }, (_, n) => guard.enter(ipOf(n), account)),
    )
    return (await Promise.all(made)).filter(({ waitSeconds }) => waitSeconds === 0).length
  }

  it('count the wrong passwords of an IP address for an account together', async () => {
    expect(await triesOf(25, () => '10.0.0.1', 'a')).toBe(5)
  })

  it('share the delay: after 30 wrong passwords, even first attempts must wait', async () => {
    expect(await triesOf(15, (n) => `10.0.0.${n}`, 'a')).toBe(30)
    const startedAt = performance.now()
    // The first three attempts of each of the two addresses are allowed at once. Of their later
    // attempts, one per second is allowed.
    expect(await triesOf(6, (n) => `10.0.1.${n % 2}`, 'a')).toBe(6 + 1)
    expect(performance.now() - startedAt).toBeGreaterThan(1_000)
  })

  it('release an account in both processes after a right password in one', async () => {
    for (let n = 0; n < 4; n += 1) await guards[0]?.enter('10.0.0.9', 'a')
    const right = await guards[1]?.enter('10.0.0.9', 'a')
    expect((await guards[0]?.enter('10.0.0.9', 'a'))?.waitSeconds).toBe(1)
    right?.succeeded()
    await expect.poll(async () => (await guards[0]?.enter('10.0.0.9', 'a'))?.waitSeconds).toBe(0)
  })

  it('stay strict when Redis is killed: each process allows half of the attempts', async () => {
    await Promise.all(guards.map((guard) => guard.enter('10.0.0.1', 'first')))
    await expect.poll(() => processes.every((limits) => limits.instances() === 2)).toBe(true)
    await server.kill()
    await expect.poll(() => processes.every((limits) => limits.isDegraded())).toBe(true)
    // Each of the two processes allows three of the five free attempts.
    expect(await triesOf(25, () => '10.0.1.1', 'a')).toBe(6)
  })
})
