import { describe, expect, it } from 'vitest'
import {
  dollarText,
  exactQuotaText,
  groupDigits,
  type MoneyRule,
  quotaFromDollars,
  quotaText,
} from '#console/ui/quota/money.ts'

const CURRENCY: MoneyRule = { quotaPerUnit: '500000', isCurrency: true }
const UNITS: MoneyRule = { quotaPerUnit: '500000', isCurrency: false }

it.each([
  ['0', '0'],
  ['999', '999'],
  ['5000', '5,000'],
  ['1234567.1234567', '1,234,567.1234567'],
  ['-12345', '-12,345'],
  ['+0.5', '+0.5'],
  ['Infinity', 'Infinity'],
])('groupDigits separates the thousands of an exact decimal: %s', (decimal, text) => {
  expect(groupDigits(decimal)).toBe(text)
})

describe('quota shown as money', () => {
  it.each([
    [0n, '$0.00'],
    [500_000n, '$1.00'],
    [2_499n, '$0.005'],
    [4_999n, '$0.01'],
    [5_000n, '$0.01'],
    [7_499n, '$0.01'],
    [7_500n, '$0.02'],
    [430n, '$0.0009'],
    [1n, '$0.000002'],
    [-750_000n, '-$1.50'],
    [-1n, '-$0.000002'],
    [-430n, '-$0.0009'],
    [617_283_945_000n, '$1,234,567.89'],
    [9_007_199_254_740_991n, '$18,014,398,509.48'],
  ])('shows a quota of %s as %s', (quota, text) => {
    expect(quotaText(quota, CURRENCY)).toBe(text)
  })

  it.each([
    [9_999n, '9999'],
    [10_000n, '10.0k'],
    [1_500_000n, '1.5M'],
    [2_000_000_000n, '2.0B'],
    [-25_000n, '-25.0k'],
  ])('shows a quota of %s without currency as %s', (quota, text) => {
    expect(quotaText(quota, UNITS)).toBe(text)
  })

  it('has an exact form that shows every unit', () => {
    expect(exactQuotaText(1n, CURRENCY)).toBe('$0.000002')
    expect(exactQuotaText(500_000n, CURRENCY)).toBe('$1.00')
    expect(exactQuotaText(1_234_567n, UNITS)).toBe('1234567')
  })

  it('accepts a fractional rate, and replaces an unreadable one with the default', () => {
    expect(dollarText(3n, { quotaPerUnit: '1.5', isCurrency: true })).toBe('$2.00')
    expect(dollarText(500_000n, { quotaPerUnit: '1e21', isCurrency: true })).toBe('$1.00')
  })

  it('converts dollars only when the result is an exact quota', () => {
    expect(quotaFromDollars('1.5', CURRENCY)).toBe(750_000n)
    expect(quotaFromDollars('0.000001', CURRENCY)).toBeNull()
    for (const text of ['', '-1', '1e3', '1,000', 'NaN']) {
      expect(quotaFromDollars(text, CURRENCY), text).toBeNull()
    }
  })
})
