import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Decimal,
  decimalOf,
  decimalText,
  isAbove,
  largest,
  parseDecimal,
  plus,
  quotient,
  rounded,
  times,
} from '#domain/pricing/decimal.ts'
import { fractionOf } from './independent-charge.ts'

const decimal: fc.Arbitrary<Decimal> = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.integer({ min: 0, max: 12 }))
  .map(([units, scale]) => ({ units, scale }))

describe('a quotient', () => {
  it.each([
    ['10', '2', '5'],
    ['0', '3', '0'],
    ['1', '8', '0.125'],
    ['0.5', '0.25', '2'],
    ['1', '3', '0.333333333333333333333333333334'],
    ['2', '3', '0.666666666666666666666666666667'],
    ['4', '0.95', '4.21052631578947368421052631579'],
  ])('of %s and %s is %s, rounded up at 30 digits', (dividend, divisor, text) => {
    expect(decimalText(quotient(decimalOf(dividend), decimalOf(divisor)))).toBe(text)
  })

  it('by zero is a programming error', () => {
    expect(() => quotient(decimalOf('1'), decimalOf('0'))).toThrow()
  })
})

describe('the text of a decimal', () => {
  it.each([
    ['0', '0'],
    ['0.0', '0'],
    ['000', '0'],
    ['007', '7'],
    ['1.50', '1.5'],
    ['0.075', '0.075'],
    ['1e-3', '0.001'],
    ['1E-3', '0.001'],
    ['2.5e2', '250'],
    ['2.5e+1', '25'],
    ['0.001e3', '1'],
    ['999999999999', '999999999999'],
    ['0.000000000000000001', '0.000000000000000001'],
    ['1e11', '100000000000'],
    ['0e9999', '0'],
    ['0.30000000000000000', '0.3'],
  ])('%s means exactly %s', (text, plain) => {
    const value = parseDecimal(text)
    expect(value).not.toBeNull()
    if (value !== null) expect(decimalText(value)).toBe(plain)
  })

  it.each([
    'NaN',
    'Infinity',
    '-Infinity',
    '-1',
    '-0',
    '+1',
    '',
    ' 1',
    '1 ',
    '.5',
    '5.',
    '1,5',
    '0x10',
    '1_000',
    '1e',
    'e3',
    '1e1.5',
    '1.2.3',
    '１',
    '1n',
    'null',
    'true',
    '[1]',
  ])('%j is not a decimal', (text) => {
    expect(parseDecimal(text)).toBeNull()
  })

  it.each([
    '1e999',
    '1e9999',
    '1e-999',
    '1e-9999',
    '9e99999999999',
    '1e1000000000',
    '1000000000000',
    '1e12',
    '1e-31',
    '0.0000000000000000000000000000001',
    '9'.repeat(65),
    `0.${'0'.repeat(63)}`,
  ])('%s is refused: over 12 digits before or 30 after the point, or a huge exponent', (text) => {
    expect(parseDecimal(text)).toBeNull()
  })

  it('does not change when it is parsed and written again', () => {
    const property = fc.property(fc.nat(), fc.nat({ max: 17 }), (digits, scale) => {
      const plain = decimalText({ units: BigInt(digits), scale })
      expect(decimalText(decimalOf(plain))).toBe(plain.includes('.') ? trimmed(plain) : plain)
    })
    fc.assert(property)
  })

  it('throws if it is invalid where a price is computed', () => {
    for (const text of ['NaN', '-1', '', '1e999']) expect(() => decimalOf(text)).toThrow()
  })
})

const trimmed = (plain: string): string => plain.replace(/\.?0+$/, '')

/** Compares two numbers as fractions. */
const isEqual = ([a, b]: readonly [bigint, bigint], [c, d]: readonly [bigint, bigint]): boolean =>
  a * d === c * b
const fraction = (value: Decimal) => fractionOf(decimalText(value))

describe('sums, products and comparisons', () => {
  it('are exact', () => {
    fc.assert(
      fc.property(decimal, decimal, (left, right) => {
        const [a, b] = fraction(left)
        const [c, d] = fraction(right)
        expect(isEqual(fraction(plus(left, right)), [a * d + c * b, b * d])).toBe(true)
        expect(isEqual(fraction(times(left, right)), [a * c, b * d])).toBe(true)
        expect(isAbove(left, right)).toBe(a * d > c * b)
        expect(isAbove(largest(left, right), left)).toBe(a * d < c * b)
      }),
    )
  })

  it('keep digits that floating point would lose', () => {
    const sum = plus(decimalOf('0.1'), decimalOf('0.2'))
    expect(decimalText(sum)).toBe('0.3')
    const product = times(decimalOf('9007199254.740993'), decimalOf('1000000'))
    expect(rounded(product)).toBe(9_007_199_254_740_993n)
  })
})

describe('rounding', () => {
  it.each([
    ['0.5', 1n],
    ['0.499999999999999999', 0n],
    ['1.5', 2n],
    ['2.5', 3n],
    ['1762.5', 1_763n],
    ['3', 3n],
    ['3.4', 3n],
  ])('rounds %s to %s, halves away from zero', (text, whole) => {
    expect(rounded(decimalOf(text))).toBe(whole)
  })

  it('differs by at most one half, and rounds halves up', () => {
    fc.assert(
      fc.property(decimal, (value) => {
        const unit = 10n ** BigInt(value.scale)
        const off = rounded(value) * unit - value.units
        expect(2n * off > -unit && 2n * off <= unit).toBe(true)
      }),
    )
  })
})
