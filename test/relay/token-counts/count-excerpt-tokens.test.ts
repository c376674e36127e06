import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, it } from 'vitest'
import { mostTokensOf, VENDOR_FACTOR } from '#relay/token-counts/count-excerpt-tokens.ts'

const most = (text: string): number => {
  const bytes = Buffer.from(text)
  return mostTokensOf(bytes, 0, bytes.length, countTokens(text))
}

it('the bound for another tokenizer lies between a quarter of the bytes and all of them', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.stringMatching(/^[0-9]{1,60}$/),
    fc.tuple(fc.constantFrom(' ', '=', 'a', '字', '\n'), fc.nat(300)).map(([sign, times]) => {
      return sign.repeat(times)
    }),
  )
  const property = fc.property(text, (made) => {
    const bytes = Buffer.byteLength(made)
    const bound = most(made)
    expect(bound).toBeLessThanOrEqual(bytes)
    expect(bound).toBeGreaterThanOrEqual(bytes / 4)
    expect(bound).toBeGreaterThanOrEqual(Math.min(bytes, countTokens(made) * VENDOR_FACTOR))
  })
  fc.assert(property, { numRuns: 500 })
})

it('the bound has every non-ASCII byte, and a third of the digits beside the factor', () => {
  const chinese = '你好世界'.repeat(20)
  expect(most(chinese)).toBe(Buffer.byteLength(chinese))
  const digits = '1234567890'.repeat(30)
  expect(most(digits)).toBe(countTokens(digits) * VENDOR_FACTOR + 100)
})
