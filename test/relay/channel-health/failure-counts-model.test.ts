import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FailureCounts } from '#relay/channel-health/failure-counts.ts'

const WINDOW_MS = 60_000
const rule = {
  isEnabled: true,
  failures: 5,
  ratePercent: 101,
  rateCalls: 1_000,
  windowMs: WINDOW_MS,
}
const called = { channelId: 4, model: 'm', keyRef: 'key-1' }

/** Calls by turns: well or not, and how long after the one before. */
const calls = fc.array(
  fc.record({ isWell: fc.boolean(), laterMs: fc.integer({ min: 0, max: WINDOW_MS / 4 }) }),
  { maxLength: 80 },
)

describe('count of consecutive failures', () => {
  it.each(['channel', 'key'] as const)('opens a %s circuit at failure 5, not before', (whose) => {
    fc.assert(
      fc.property(calls, (made) => {
        const tallies = new FailureCounts()
        let now = 1_000_000
        let row = 0
        for (const { isWell, laterMs } of made) {
          now += laterMs
          if (isWell) {
            tallies.succeed(called, now, rule)
            row = 0
            continue
          }
          row += 1
          const what = { model: 'm', offersMore: false, blame: 'unknown' } as const
          const trip =
            whose === 'key'
              ? tallies.failKey(called.keyRef, now, rule)
              : tallies.fail(called.channelId, what, now, rule)
          expect(trip !== null).toBe(row >= rule.failures)
        }
      }),
    )
  })
})
