import { describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import { sweep } from '#relay/expired-call-sweeper.ts'
import { newCallId } from '#relay/pipeline/http-exchange.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { claimedCallsInMemory } from './support/in-memory-stores.ts'
import { relayRig, TOKEN, USER } from './support/relay-rig.ts'

const claims = claimedCallsInMemory()
const keyed = (call: string) =>
  claims.claim({ userId: 7, tokenId: TOKEN, keyHash: call, bodyHash: 'body', call, at: 0 })

const rig = startedForEach(relayRig)

const PRICE = { mode: 'call', list: 0, price: '0.002', group: '1' } as const

/** A call whose owner is gone: admitted, with some progress, its lease over or not. */
async function orphan(leaseUntil: number, output: number): Promise<string> {
  const call = newCallId(Date.now())
  const context = { actor: 'token:3', cause: call, at: Date.now() }
  const handle = (command: Parameters<typeof accountDecider.decide>[0]) =>
    rig.core.actors.handle(accountDecider, accountStream(USER), command, context)
  const terms = { model: 'm', group: 'default', isStream: true, hold: 1_000n, price: PRICE }
  const at = { leaseUntil, clientIp: null, startedAt: Date.now() }
  await handle({ type: 'AdmitCall', userId: USER, tokenId: TOKEN, call, ...terms, ...at })
  if (output > 0) {
    const usage = { ...NO_USAGE, output }
    await handle({ type: 'RecordProgress', call, channelId: 1, usage, leaseUntil })
  }
  return call
}

const find = (calls: readonly string[], leaseUntil: number) => async () =>
  calls.map((call) => ({
    call,
    userId: USER,
    tokenId: TOKEN,
    model: 'm',
    admittedAt: 0,
    leaseUntil,
  }))

const interrupted = async () =>
  (await rig.callEvents()).filter(({ type }) => type === 'CallInterrupted')

describe('an expired call whose owner died', () => {
  it('fifty concurrent sweepers end the call once, charge its part and free its hold', async () => {
    const past = Date.now() - 1
    const calls = [await orphan(past, 10), await orphan(past, 0)]
    const before = await rig.balance()
    await Promise.all(Array.from({ length: 50 }, () => sweep(rig.core, claims, find(calls, past))))
    const ends = await interrupted()
    expect(ends).toHaveLength(2)
    expect(ends.map(({ data }) => 'charge' in data && data.charge)).toEqual([1_000, 0])
    expect((await rig.balance()) - before).toBe(1_000n)
  })

  it('the call keeps its Idempotency-Key if it was charged, and frees it otherwise', async () => {
    const past = Date.now() - 1
    const [charged, free] = [await orphan(past, 10), await orphan(past, 0)]
    await Promise.all([keyed(charged), keyed(free)])
    await sweep(rig.core, claims, find([charged, free], past))
    const again = (keyHash: string) =>
      claims.claim({ userId: 7, tokenId: TOKEN, keyHash, bodyHash: 'body', call: 'next', at: 0 })
    expect(await again(charged)).toMatchObject({ call: charged })
    expect(await again(free)).toMatchObject({ call: 'next' })
  })

  it('the sweeper keeps the call while its lease runs, whatever the read model says', async () => {
    const leaseUntil = Date.now() + 60_000
    const call = await orphan(leaseUntil, 10)
    await sweep(rig.core, claims, find([call], leaseUntil))
    expect(await interrupted()).toEqual([])
  })
})
