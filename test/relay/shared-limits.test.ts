import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Opened, openShared, PATIENT_MS } from '../infra/redis/open-shared-limits.ts'
import { type OwnRedis, redisEngine, startOwnRedis } from '../support/test-redis.ts'
import { type Answer, chat, type RelayRig, relayRig, USER } from './support/relay-rig.ts'

const LIMITED = 'limitedlimitedlimitedlimitedlimitedlimitedlimite'
const limited = { authorization: `Bearer sk-${LIMITED}` }
const canHarm = redisEngine === 'redis-server'
const reason = canHarm ? '' : ' (skipped: there is no redis-server here)'

const GRANT = 1_000_000_000n

describe.skipIf(!canHarm)(`two relays on one Redis${reason}`, () => {
  let server: OwnRedis
  let relays: RelayRig[] = []
  let opened: Opened[] = []
  beforeEach(async () => {
    server = await startOwnRedis()
  })
  afterEach(async () => {
    for (const relay of relays) await relay.close()
    for (const limits of opened) await limits.close()
    await server.stop()
  })

  const start = async (count: number, success: number, settings = {}): Promise<void> => {
    opened = [await openShared(server.url, settings), await openShared(server.url, settings)]
    relays = []
    for (const limits of opened) {
      const relay = await relayRig({}, {}, limits)
      const rateLimit = { isEnabled: true, periodSeconds: 60, count, success }
      await relay.addToken(50, USER, LIMITED, { rateLimit })
      relays.push(relay)
    }
  }
  const callsAtBoth = async (each: number, headers = limited): Promise<Answer[]> =>
    (
      await Promise.all(
        relays.map((relay) =>
          Promise.all(Array.from({ length: each }, () => chat(relay, {}, headers))),
        ),
      )
    ).flat()
  const countOf = (answers: Answer[], wanted: number): number =>
    answers.filter(({ status }) => status === wanted).length

  it('the relays share a token’s limit on calls', async () => {
    await start(7, 0, { answerMs: PATIENT_MS })
    const answers = await callsAtBoth(25)
    expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([7, 43])
  })

  it('the relays share a token’s limit on successes, and free a failed call’s place', async () => {
    await start(0, 3, { answerMs: PATIENT_MS })
    for (const relay of relays) relay.provider.script.push({ kind: 'status', status: 400 })
    expect(countOf(await callsAtBoth(1), 400)).toBe(2)
    expect(countOf(await callsAtBoth(25), 200)).toBe(3)
  })

  it('the relays count wrong keys together', async () => {
    await start(0, 0, { answerMs: PATIENT_MS })
    const answers = await callsAtBoth(40, { authorization: 'Bearer sk-wrongwrongwrong' })
    expect([countOf(answers, 401), countOf(answers, 429)]).toEqual([60, 20])
    // Each of them has seen one too many.
    expect(countOf(await callsAtBoth(1), 429)).toBe(2)
  })

  it('the relays continue when Redis is killed, and every bill is exact', async () => {
    await start(1_000_000, 1_000_000)
    let isOver = false
    const answers: Answer[] = []
    const caller = async (relay: RelayRig): Promise<void> => {
      while (!isOver) answers.push(await chat(relay, {}, limited))
    }
    const callers = relays.flatMap((relay) => Array.from({ length: 8 }, () => caller(relay)))
    await expect.poll(() => answers.length).toBeGreaterThan(50)
    await server.kill()
    await expect.poll(() => opened.every((limits) => limits.isDegraded())).toBe(true)
    const whenLost = answers.length
    await expect.poll(() => answers.length).toBeGreaterThan(whenLost + 50)
    await server.restart()
    await expect.poll(() => opened.some((limits) => limits.isDegraded())).toBe(false)
    const whenBack = answers.length
    await expect.poll(() => answers.length).toBeGreaterThan(whenBack + 50)
    isOver = true
    await Promise.all(callers)
    expect(countOf(answers, 200)).toBe(answers.length)
    const settled = await Promise.all(relays.map(billsOf))
    expect(settled.reduce((sum, count) => sum + count, 0)).toBe(answers.length)
  })
})

/** Each call of the provider is billed once, no hold is left, and the balance is what remains. */
async function billsOf(relay: RelayRig): Promise<number> {
  const events = await relay.callEvents()
  const settled = events.filter((event) => event.type === 'CallSettled')
  expect(events.filter(({ type }) => type === 'CallAdmitted')).toHaveLength(settled.length)
  expect(relay.provider.journal.count).toBe(settled.length)
  expect(new Set(settled.map(({ data }) => data.call)).size).toBe(settled.length)
  let charged = 0n
  for (const { data } of settled) charged += BigInt(data.charge)
  expect(charged).toBeGreaterThan(0n)
  expect(await relay.balance()).toBe(GRANT - charged)
  return settled.length
}
