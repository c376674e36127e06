import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'
import type { OpenCall } from '#projections/open-calls/query.ts'
import { ExpiredCallDetector } from '#relay/expired-call-detector.ts'
import { sweep } from '#relay/expired-call-sweeper.ts'
import { newCallId } from '#relay/pipeline/http-exchange.ts'
import { claimedCallsInMemory } from './support/in-memory-stores.ts'
import { chat, onlyEnd, type RelayRig, relayRig, TOKEN, USER } from './support/relay-rig.ts'

const HOUR = 3_600_000

let aheadMs: number
let rig: RelayRig
const now = () => Date.now() + aheadMs
beforeEach(async () => {
  aheadMs = 0
  rig = await relayRig({}, {}, undefined, { now, firstByteMs: 500 })
})
afterEach(() => rig.close())

describe('a clock that changes while a call runs', () => {
  it.each([
    ['an hour forward', HOUR],
    ['an hour back', -HOUR],
    ['a day forward', 24 * HOUR],
  ])('a clock set %s ends no stream', async (_name, stepMs) => {
    rig.provider.script.push({ kind: 'slow', msPerChunk: 100 })
    setTimeout(() => {
      aheadMs = stepMs
    }, 900)
    const { text } = await chat(rig, { stream: true, max_tokens: 10 })
    expect(text).toContain('data: [DONE]')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'done', usage: { output: 10 } })
    const { timings, attempts } = data
    expect(timings.durationMs).toBeLessThan(30_000)
    expect(timings.durationMs).toBeGreaterThan(500)
    expect(timings.firstByteMs).toBeLessThan(30_000)
    expect(attempts[0]?.latencyMs).toBeLessThan(30_000)
  })

  it('a clock set an hour forward ends no plain call', async () => {
    setTimeout(() => {
      aheadMs = HOUR
    }, 200)
    expect((await chat(rig, { max_tokens: 10 })).status).toBe(200)
    expect((await onlyEnd(rig)).data.timings.durationMs).toBeLessThan(30_000)
  })
})

const PRICE = { mode: 'call', list: 0, price: '0.002', group: '1' } as const
const LEASE_MS = 60_000
const PASS_MS = 5_000
const claims = claimedCallsInMemory()

/** A call of some other process, and what the read model has of it. */
async function openCall(): Promise<{
  readonly renew: () => Promise<void>
  readonly row: OpenCall
}> {
  const call = newCallId(now())
  const row = { call, userId: USER, tokenId: TOKEN, model: 'm', admittedAt: now(), leaseUntil: 0 }
  const handle = (command: Parameters<typeof accountDecider.decide>[0]) =>
    rig.core.actors.handle(accountDecider, accountStream(USER), command, {
      actor: 'token:3',
      cause: call,
      at: now(),
    })
  row.leaseUntil = now() + LEASE_MS
  await handle({
    type: 'AdmitCall',
    ...{ userId: USER, tokenId: TOKEN, call, model: 'm', group: 'default', isStream: true },
    ...{ hold: 1_000n, price: PRICE, clientIp: null },
    ...{ leaseUntil: row.leaseUntil, startedAt: now() },
  })
  const renew = async () => {
    // Time stands nearly still in this test; a third of a lease has gone by.
    row.leaseUntil += LEASE_MS / 3
    const { leaseUntil } = row
    await handle({ type: 'RecordProgress', call, channelId: 1, usage: NO_USAGE, leaseUntil })
  }
  return { row, renew }
}

const interrupted = async () =>
  (await rig.callEvents()).filter(({ type }) => type === 'CallInterrupted').length

describe('the sweeper of a process whose clock was set an hour forward', () => {
  const passes = async (
    watch: ExpiredCallDetector,
    count: number,
    each: (pass: number) => Promise<void>,
  ) => {
    let elapsedMs = 0
    for (let pass = 0; pass < count; pass += 1) {
      await sweep(rig.core, claims, watch.finderAt(elapsedMs))
      elapsedMs += PASS_MS
      await each(pass)
    }
  }

  it('the sweeper keeps a call whose owner renews its lease by the old clock', async () => {
    const { row, renew } = await openCall()
    const watch = new ExpiredCallDetector(async () => [{ ...row }], LEASE_MS)
    await passes(watch, 20, async (pass) => {
      aheadMs = 0
      // Every 20 s.
      if (pass % 4 === 3) await renew()
      aheadMs = HOUR
    })
    expect(await interrupted()).toBe(0)
  })

  it('the sweeper keeps a call whose renewals the read model does not show', async () => {
    const { row, renew } = await openCall()
    const stale = { ...row }
    const watch = new ExpiredCallDetector(async () => [stale], LEASE_MS)
    await renew()
    aheadMs = HOUR
    await passes(watch, 20, async () => {})
    expect(await interrupted()).toBe(0)
  })

  it('the sweeper ends a call of a dead owner after half a lease without renewal', async () => {
    const { row } = await openCall()
    const watch = new ExpiredCallDetector(async () => [{ ...row }], LEASE_MS)
    aheadMs = HOUR
    let endedAt = -1
    await passes(watch, 10, async (pass) => {
      if (endedAt < 0 && (await interrupted()) === 1) endedAt = pass
    })
    expect(endedAt).toBe(LEASE_MS / 2 / PASS_MS)
  })

  it('the sweeper does not count time during which its own process was paused', async () => {
    const { row } = await openCall()
    const watch = new ExpiredCallDetector(async () => [{ ...row }], LEASE_MS)
    aheadMs = HOUR
    await sweep(rig.core, claims, watch.finderAt(0))
    await sweep(rig.core, claims, watch.finderAt(10 * 60_000))
    expect(await interrupted()).toBe(0)
  })
})
