import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type BackoffClaim,
  type Claim,
  isFull,
  type Limits,
  type Permit,
  type PermitsClaim,
  type RateClaim,
  type TokensClaim,
} from '#infra/limits/port.ts'

export type Clock = { now: number }
export type LimitsUnderTest = { readonly limits: Limits; readonly close: () => Promise<void> }

/** Defines the tests that every implementation of `Limits` must pass. The tests set the clock. */
export function limitsSuite(name: string, open: (clock: Clock) => Promise<LimitsUnderTest>): void {
  describe(name, () => {
    const clock: Clock = { now: 1_800_000_000_000 }
    let under: LimitsUnderTest
    beforeAll(async () => {
      under = await open(clock)
    })
    afterAll(async () => {
      // A degraded implementation would mean that the fallback was tested instead.
      expect(under.limits.isDegraded()).toBe(false)
      await under.close()
    })
    rates(clock, () => under.limits)
    permits(() => under.limits)
    tokens(clock, () => under.limits)
    backoffs(clock, () => under.limits)
    together(clock, () => under.limits)
  })
}

export const rate = (max: number, more: Partial<RateClaim> = {}): RateClaim => ({
  kind: 'rate',
  key: randomUUID(),
  max,
  periodMs: 1_000,
  isRefundable: false,
  ...more,
})
export const permitsOf = (max: number): PermitsClaim => ({
  kind: 'permits',
  key: randomUUID(),
  max,
})
const tokensOf = (max: number, key: string, estimate: number): TokensClaim => ({
  kind: 'tokens',
  key,
  max,
  estimate,
})

const OWNER = 'user:7'

/** Returns 0 when a permit was acquired, else the wait in milliseconds. */
export const waitFor = async (limits: Limits, ...claims: Claim[]): Promise<number> => {
  const outcome = await limits.enter(OWNER, claims)
  return isFull(outcome) ? outcome.waitMs : 0
}

export const permitFor = async (limits: Limits, ...claims: Claim[]): Promise<Permit> => {
  const outcome = await limits.enter(OWNER, claims)
  if (isFull(outcome)) throw new Error(`full: ${JSON.stringify(outcome)}`)
  return outcome
}

/** Returns how many of `times` simultaneous requests acquired a permit. */
export const admitted = async (limits: Limits, times: number, ...claims: Claim[]) => {
  const waits = await Promise.all(Array.from({ length: times }, () => waitFor(limits, ...claims)))
  return waits.filter((wait) => wait === 0).length
}

type Get = () => Limits

function rates(clock: Clock, get: Get): void {
  it('a rate is exact in any window of its period, and reports how long to wait', async () => {
    const claim = rate(2)
    expect(await waitFor(get(), claim)).toBe(0)
    clock.now += 900
    expect(await waitFor(get(), claim)).toBe(0)
    clock.now += 50
    expect(await waitFor(get(), claim)).toBe(50)
    clock.now += 49
    expect(await waitFor(get(), claim)).toBe(1)
    clock.now += 1
    expect(await waitFor(get(), claim)).toBe(0)
    clock.now += 1
    expect(await waitFor(get(), claim)).toBe(899)
    clock.now += 5_000
    expect(await admitted(get(), 5, claim)).toBe(2)
  })

  it('a rate of ten admits ten of fifty at once, and ten again one period later', async () => {
    const claim = rate(10)
    expect(await admitted(get(), 50, claim)).toBe(10)
    clock.now += 999
    expect(await admitted(get(), 50, claim)).toBe(0)
    clock.now += 1
    expect(await admitted(get(), 50, claim)).toBe(10)
  })

  it('a refundable place becomes free by a refund; other places stay occupied', async () => {
    const calls = rate(100)
    const successes = rate(3, { isRefundable: true })
    const taken = [
      await permitFor(get(), calls, successes),
      await permitFor(get(), calls, successes),
      await permitFor(get(), calls, successes),
    ]
    expect(await waitFor(get(), calls, successes)).toBe(1_000)
    taken[0]?.release({ isRefunded: true })
    taken[0]?.release({ isRefunded: true })
    taken[1]?.release({ isRefunded: false })
    expect(await admitted(get(), 50, calls, successes)).toBe(1)
    expect(await waitFor(get(), { ...calls, max: 4 })).toBe(1_000)
    expect(await waitFor(get(), { ...calls, max: 5 })).toBe(0)
  })

  it('a refund frees the place at the time at which it was acquired', async () => {
    const claim = rate(2, { isRefundable: true })
    const first = await permitFor(get(), claim)
    clock.now += 600
    await permitFor(get(), claim)
    first.release({ isRefunded: true })
    expect(await waitFor(get(), claim)).toBe(0)
    clock.now += 400
    expect(await waitFor(get(), claim)).toBe(600)
  })

  it('requests that are counted together fit, and are refunded, whole', async () => {
    const claim = rate(10, { isRefundable: true })
    const of = (count: number) => ({ ...claim, count })
    expect(await waitFor(get(), of(11))).toBe(1_000)
    const six = await permitFor(get(), of(6))
    clock.now += 100
    expect(await waitFor(get(), of(5))).toBe(900)
    expect(await waitFor(get(), of(4))).toBe(0)
    expect(await waitFor(get(), claim)).toBe(900)
    six.release({ isRefunded: true })
    expect(await admitted(get(), 50, claim)).toBe(6)
    clock.now += 1_000
    expect(await admitted(get(), 50, of(3))).toBe(3)
  })

  it('a claim may count many thousand requests', async () => {
    const claim = rate(50_000, { isRefundable: true })
    const all = await permitFor(get(), { ...claim, count: 50_000 })
    expect(await waitFor(get(), claim)).toBe(1_000)
    all.release({ isRefunded: true })
    await expect.poll(() => waitFor(get(), claim)).toBe(0)
  })

  it('a clock that is set back makes no request wait', async () => {
    const claim = rate(1)
    await permitFor(get(), claim)
    clock.now -= 3_600_000
    expect(await waitFor(get(), claim)).toBe(0)
    expect(await waitFor(get(), claim)).toBe(1_000)
  })
}

function permits(get: Get): void {
  it('permits become free after their release, and each of them only once', async () => {
    const claim = permitsOf(10)
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => get().enter(OWNER, [claim])),
    )
    const taken = outcomes.filter((outcome): outcome is Permit => !isFull(outcome))
    expect(taken).toHaveLength(10)
    expect(outcomes.find(isFull)).toEqual({ full: 0, waitMs: 1_000 })
    for (const permit of taken.slice(0, 3)) {
      permit.release({ isRefunded: false })
      permit.release({ isRefunded: true })
    }
    expect(await admitted(get(), 50, claim)).toBe(3)
  })
}

function tokens(clock: Clock, get: Get): void {
  it('tokens are reserved at entry and corrected at the end', async () => {
    const key = randomUUID()
    const first = await permitFor(get(), tokensOf(1_000, key, 600))
    expect(await waitFor(get(), tokensOf(1_000, key, 600))).toBe(60_000)
    clock.now += 10_000
    first.release({ isRefunded: false, tokens: 150 })
    const second = await permitFor(get(), tokensOf(1_000, key, 600))
    second.release({ isRefunded: false, tokens: 900 })
    // 150 tokens leave the window in 50 seconds, and 900 tokens in 60 seconds.
    expect(await waitFor(get(), tokensOf(1_000, key, 100))).toBe(50_000)
    expect(await waitFor(get(), tokensOf(1_000, key, 101))).toBe(60_000)
    clock.now += 50_000
    expect(await waitFor(get(), tokensOf(1_000, key, 100))).toBe(0)
    clock.now += 59_999
    expect(await waitFor(get(), tokensOf(1_000, key, 1_000))).toBe(1)
  })

  it('fifty reservations at once never exceed the limit; a full refund leaves 0', async () => {
    const key = randomUUID()
    expect(await admitted(get(), 50, tokensOf(1_000, key, 100))).toBe(10)
    clock.now += 60_000
    const permit = await permitFor(get(), tokensOf(1_000, key, 1_000))
    permit.release({ isRefunded: true, tokens: 0 })
    expect(await admitted(get(), 50, tokensOf(1_000, key, 100))).toBe(10)
  })

  it('a request for more tokens than the limit passes if it is the only one', async () => {
    const key = randomUUID()
    expect(await waitFor(get(), tokensOf(1_000, key, 5_000))).toBe(0)
    expect(await waitFor(get(), tokensOf(1_000, key, 1))).toBe(60_000)
  })
}

function backoffs(clock: Clock, get: Get): void {
  const claim = (): BackoffClaim => ({
    kind: 'backoff',
    key: randomUUID(),
    freeTries: 5,
    delayMsMax: 30_000,
    forgetMs: 900_000,
  })

  it('each try beyond the free tries waits twice as long as the one before', async () => {
    const guessed = claim()
    const waits: number[] = []
    for (let n = 0; n < 13; n += 1) {
      const wait = await waitFor(get(), guessed)
      waits.push(wait / 1_000)
      clock.now += wait
      if (wait > 0) await permitFor(get(), guessed)
    }
    expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30])
    clock.now += 900_000
    expect(await admitted(get(), 50, guessed)).toBe(5)
  })

  it('a refund makes a backoff forget its tries', async () => {
    const guessed = claim()
    for (let n = 0; n < 4; n += 1) await permitFor(get(), guessed)
    const right = await permitFor(get(), guessed)
    expect(await waitFor(get(), guessed)).toBe(1_000)
    right.release({ isRefunded: true })
    expect(await admitted(get(), 50, guessed)).toBe(5)
  })
}

function together(clock: Clock, get: Get): void {
  it('a request passes under all its claims or none, and the first full one is named', async () => {
    const [wide, narrow, room] = [rate(100), rate(3, { periodMs: 5_000 }), permitsOf(5)]
    const reserved = { ...tokensOf(1_000, randomUUID(), 100) }
    expect(await admitted(get(), 50, wide, room, narrow, reserved)).toBe(3)
    const outcome = await get().enter(OWNER, [wide, room, narrow, reserved])
    expect(outcome).toEqual({ full: 2, waitMs: 5_000 })
    // A rejected request must not have counted under its other claims.
    expect(await admitted(get(), 200, wide)).toBe(97)
    expect(await admitted(get(), 50, room)).toBe(2)
    expect(await admitted(get(), 50, reserved)).toBe(7)
  })

  it('a request waits for the last of its full claims', async () => {
    const [short, long] = [rate(1), rate(1, { periodMs: 9_000 })]
    await permitFor(get(), short, long)
    expect(await get().enter(OWNER, [short, long])).toEqual({ full: 0, waitMs: 9_000 })
    clock.now += 1_000
    expect(await get().enter(OWNER, [short, long])).toEqual({ full: 1, waitMs: 8_000 })
  })

  it('a lowered or raised limit applies from the next request on', async () => {
    const claim = rate(4)
    expect(await admitted(get(), 4, claim)).toBe(4)
    expect(await waitFor(get(), { ...claim, max: 2 })).toBe(1_000)
    expect(await admitted(get(), 50, { ...claim, max: 6 })).toBe(2)
  })

  it('a request without claims never waits', async () => {
    expect(await waitFor(get())).toBe(0)
  })
}
