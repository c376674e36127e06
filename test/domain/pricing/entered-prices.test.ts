import fc from 'fast-check'
import { expect, it } from 'vitest'
import { completionRatioOf, ratioOfPrice } from '#console/features/settings/price-conversion.ts'
import { chargeFor } from '#domain/pricing/charge.ts'
import type { PerTokenPrice } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE } from '#domain/pricing/usage.ts'

const MILLION = 1_000_000n
const text = (millionths: bigint): string => {
  const digits = String(millionths).padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}

/** Millionths of a dollar per million tokens. */
const price = fc.oneof(
  fc.bigInt({ min: 1n, max: 99_999_999_999n }),
  fc.bigInt({ min: 1n, max: 2_000n }).map((cents) => cents * 10_000n),
)

it('a call costs exactly what the entered prices imply, even if their ratios are rounded', () => {
  const tokens = fc.integer({ min: 0, max: 10_000_000 })
  const group = fc.bigInt({ min: 1n, max: 10_000n })
  fc.assert(
    fc.property(price, price, tokens, tokens, group, (input, output, into, out, thousandths) => {
      const snapshot: PerTokenPrice = {
        ...{ mode: 'tokens', list: 1, cacheRead: '1', cacheWrite: '1', image: '1' },
        ...{ audio: '1', audioCompletion: '1', group: text(thousandths * 1_000n) },
        model: ratioOfPrice(text(input)),
        completion: completionRatioOf(text(input), text(output)),
      }
      const usage = { ...NO_USAGE, inputUncached: into, output: out }
      // Prices per million tokens as quota (dollars × 500 000), rounded half away from zero.
      const numerator = (BigInt(into) * input + BigInt(out) * output) * thousandths * 500_000n
      const denominator = MILLION * MILLION * 1_000n
      const rounded = (numerator * 2n + denominator) / (denominator * 2n)
      const exact = numerator > 0n && rounded === 0n ? 1n : rounded
      const capped = exact > 10n ** 12n ? 10n ** 12n : exact
      expect(chargeFor(snapshot, usage, 1)).toBe(capped)
    }),
    { numRuns: 3_000 },
  )
})

it('a half is rounded up for $6 and $20, group ratio 0.05 and three output tokens', () => {
  const snapshot: PerTokenPrice = {
    ...{ mode: 'tokens', list: 1, cacheRead: '1', cacheWrite: '1', image: '1', audio: '1' },
    ...{ audioCompletion: '1', group: '0.05', model: ratioOfPrice('6') },
    completion: completionRatioOf('6', '20'),
  }
  expect(chargeFor(snapshot, { ...NO_USAGE, output: 3 }, 1)).toBe(2n)
})
