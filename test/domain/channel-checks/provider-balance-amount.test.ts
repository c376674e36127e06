import { describe, expect, it } from 'vitest'
import {
  amountText,
  inCurrencyOf,
  inHundredths,
  minus,
  parseAmount,
} from '#domain/channel-checks/provider-balance-amount.ts'
import { decimalOf } from '#domain/pricing/decimal.ts'

const amount = (text: string) => {
  const parsed = parseAmount(text)
  if (parsed === null) throw new Error(text)
  return parsed
}

describe('exact amounts of a provider’s balance', () => {
  it.each([
    ['110.00', '110'],
    ['-0.50', '-0.5'],
    ['0', '0'],
    ['-0', '0'],
    ['12345678901.000000000001', '12345678901.000000000001'],
    ['1e-3', '0.001'],
  ])('reads %s as %s', (text, expected) => expect(amountText(amount(text))).toBe(expected))

  it.each(['', '-', '--1', 'NaN', '1e30', '1,5', '$3', '0x10', '-Infinity'])(
    'reads %s as no amount',
    (text) => expect(parseAmount(text)).toBeNull(),
  )

  it('subtracts amounts exactly, also below zero', () => {
    expect(amountText(minus(amount('0.3'), amount('0.1')))).toBe('0.2')
    expect(amountText(minus(amount('1'), amount('1.25')))).toBe('-0.25')
    expect(amountText(minus(amount('5'), amount('-5')))).toBe('10')
  })

  it('converts cents to units exactly', () =>
    expect(amountText(inHundredths(amount('1234.5')))).toBe('12.345'))

  it.each([
    ['73', '7.3', '10'],
    ['110.00', '7.3', '15.068493'],
    ['-110.00', '7.3', '-15.068493'],
    ['1', '0.000003', '333333.333333'],
    ['2', '3', '0.666667'],
  ])('converts %s at a rate of %s to %s', (text, rate, expected) => {
    const converted = inCurrencyOf(amount(text), decimalOf(rate))
    expect(converted === null ? null : amountText(converted)).toBe(expected)
  })

  it('converts nothing at a rate of 0', () =>
    expect(inCurrencyOf(amount('1'), decimalOf('0'))).toBeNull())
})
