import pino from 'pino'
import { expect, it } from 'vitest'
import { openLimits } from '#infra/limits/open-limits-and-caches.ts'
import { type Claim, isFull } from '#infra/limits/port.ts'

it('without Redis, a worker allows its share of a limit, rounded up', async () => {
  const allowed = async (workers: number, claim: Claim): Promise<number> => {
    const { limits, close } = await openLimits({
      redisUrl: null,
      secretKey: new Uint8Array(32),
      log: pino({ level: 'silent' }),
      now: () => 1_000_000,
      workers,
    })
    let count = 0
    while (!isFull(await limits.enter('owner', [claim]))) count += 1
    await close()
    return count
  }
  const permits: Claim = { kind: 'permits', key: 'permits', max: 5 }
  const rate: Claim = { kind: 'rate', key: 'rate', max: 10, periodMs: 60_000, isRefundable: false }
  expect([await allowed(1, permits), await allowed(2, permits)]).toEqual([5, 3])
  expect([await allowed(1, rate), await allowed(4, rate)]).toEqual([10, 3])
  const batch = (count: number): Claim => ({ ...rate, count })
  expect([await allowed(4, batch(8)), await allowed(4, batch(11))]).toEqual([1, 0])
})
