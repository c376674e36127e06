import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  completionRatioOf,
  priceOfRatio,
  ratioOfPrice,
  scaledPrice,
} from '#console/features/settings/price-conversion.ts'
import { mediaPricesAt } from '#console/features/settings/use-media-prices.ts'

const decimalText = fc
  .tuple(fc.bigInt(0n, 10n ** 18n), fc.bigInt(0n, 999_999_999n))
  .map(([whole, fraction]) => `${whole}.${fraction}`.replace(/\.?0+$/, '') || '0')

describe('the conversion between ratio and price', () => {
  it('sets a ratio to half the dollars per million input tokens, to the last digit', () => {
    expect(priceOfRatio('1.25')).toBe('2.5')
    expect(priceOfRatio('0.075')).toBe('0.15')
    expect(ratioOfPrice('0.1')).toBe('0.05')
    expect(ratioOfPrice('0.30000000000000000001')).toBe('0.150000000000000000005')
  })

  it('returns the same price after a conversion to a ratio and back', () => {
    fc.assert(
      fc.property(decimalText, (ratio) => {
        const there = priceOfRatio(ratio)
        expect(priceOfRatio(ratioOfPrice(there))).toBe(there)
      }),
    )
  })

  it('sets the completion ratio to the output price divided by the input price', () => {
    expect(completionRatioOf('2.5', '10')).toBe('4')
    expect(completionRatioOf('3', '10')).toBe(`3.${'3'.repeat(29)}4`)
    expect(completionRatioOf('0.6', '0.4')).toBe(`0.${'6'.repeat(29)}7`)
    expect(scaledPrice('1.25', '4')).toBe('10')
  })

  it.each([
    ['by twelve digits, as older versions kept it', '3.333333333333'],
    ['by thirty digits', completionRatioOf('6', '20')],
    ['by a script that read it as a floating number', String(20 / 6)],
  ])('returns the output price that the user entered: %s', (_, completion) => {
    expect(scaledPrice('3', completion)).toBe('20')
  })

  it('returns a short price of cached input for a ratio that was rounded', () => {
    expect(scaledPrice('0.66', '0.03333333333333333')).toBe('0.044')
  })

  it('uses the exact product for a ratio that the user typed', () => {
    expect(scaledPrice('3', '3.33')).toBe('19.98')
    expect(scaledPrice('3', '1.23456789012')).toBe('7.40740734072')
    expect(scaledPrice('0.5', '0.000000000001')).toBe('0.000000000001')
  })

  it('returns an empty text for a price that is missing, not a number, or 0', () => {
    expect(completionRatioOf('0', '10')).toBe('')
    expect(completionRatioOf('', '10')).toBe('')
    expect(priceOfRatio('abc')).toBe('')
    expect(scaledPrice('1', '')).toBe('')
  })
})

describe('the prices of audio and images', () => {
  it('follow from the input price, and audio in answers from audio in the input', () => {
    const ratios = { AudioRatio: '8', AudioCompletionRatio: '2', ImageRatio: '1.25' }
    expect(mediaPricesAt('2', ratios)).toEqual([
      { option: 'AudioRatio', dollars: '32' },
      { option: 'AudioCompletionRatio', dollars: '64' },
      { option: 'ImageRatio', dollars: '5' },
    ])
    expect(mediaPricesAt('1', { ImageCompletionRatio: '100', AudioCompletionRatio: '3' })).toEqual([
      { option: 'AudioCompletionRatio', dollars: '6' },
      { option: 'ImageCompletionRatio', dollars: '200' },
    ])
  })

  it('include that of audio in answers without a ratio, which costs the same as its input', () => {
    expect(mediaPricesAt('2', { AudioRatio: '8' })).toEqual([
      { option: 'AudioRatio', dollars: '32' },
      { option: 'AudioCompletionRatio', dollars: '32' },
    ])
  })

  it('are not shown without a ratio, or for an input price that is invalid', () => {
    expect(mediaPricesAt('2', {})).toEqual([])
    for (const ratio of ['', '-1']) expect(mediaPricesAt(ratio, { ImageRatio: '2' })).toEqual([])
  })
})
