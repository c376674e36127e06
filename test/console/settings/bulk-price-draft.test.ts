import { describe, expect, it } from 'vitest'
import {
  bulkPriceRows,
  emptyBulkPrice,
  rowsLosingFixedPrice,
  validateBulkPrice,
} from '#console/features/settings/bulk-price-draft.ts'
import { exampleCost, quotaOfDollars } from '#console/features/settings/price-conversion.ts'

const row = (patch = {}) => ({
  name: 'a',
  price: '',
  ratio: '1',
  completionRatio: '2',
  cacheRatio: '',
  maxOutputTokens: '4096',
  ...patch,
})

describe('a bulk change of prices for many models', () => {
  it('changes only the values that are filled in', () => {
    expect(bulkPriceRows([row()], { ...emptyBulkPrice, cacheRatio: '0.50' })).toEqual([
      row({ cacheRatio: '0.5' }),
    ])
  })

  it('replaces a price per call with a token ratio; other ratios keep that price', () => {
    const perCall = row({ price: '0.04', ratio: '' })
    expect(bulkPriceRows([perCall], { ...emptyBulkPrice, ratio: '3' })).toEqual([
      row({ ratio: '3' }),
    ])
    const kept = bulkPriceRows([perCall], { ...emptyBulkPrice, completionRatio: '3' })
    expect(kept).toEqual([{ ...perCall, completionRatio: '3' }])
  })

  it('replaces the ratios with a fixed price per call', () => {
    const rows = [row({ cacheRatio: '0.5' }), row({ price: '0.04', ratio: '' })]
    const fixed = row({ price: '0.02', ratio: '', completionRatio: '' })
    expect(bulkPriceRows(rows, { ...emptyBulkPrice, price: '0.020' })).toEqual([fixed, fixed])
    expect(validateBulkPrice({ ...emptyBulkPrice, price: 'x' })).toEqual({ price: 'notNumber' })
  })

  it('reports which fixed prices it would remove', () => {
    const rows = [row(), row({ name: 'b', price: '0.04', ratio: '' })]
    expect(rowsLosingFixedPrice(rows, { ...emptyBulkPrice, ratio: '3' })).toEqual([rows[1]])
    expect(rowsLosingFixedPrice(rows, { ...emptyBulkPrice, cacheRatio: '3' })).toEqual([])
  })

  it('reports an error for each field without a number, except for empty ones', () => {
    const draft = { ratio: '-1', completionRatio: 'x', cacheRatio: ' ', price: '' }
    expect(validateBulkPrice(draft)).toEqual({ ratio: 'negative', completionRatio: 'notNumber' })
    expect(validateBulkPrice(emptyBulkPrice)).toEqual({})
  })
})

describe('the example cost of a price', () => {
  it.each([
    ['2.5', '10', '0.0075'],
    ['0.15', '0.6', '0.00045'],
    ['0', '0', '0'],
    ['0.000001', '1', '0.000500001'],
  ])('is exact: 1000 tokens in at $%s and 500 out at $%s cost $%s', (input, output, cost) => {
    expect(exampleCost(input, output)).toBe(cost)
  })

  it('is empty while a price is missing', () => {
    expect([exampleCost('', '1'), exampleCost('1', 'x')]).toEqual(['', ''])
  })

  it.each([
    ['0.04', '20000'],
    ['1', '500000'],
    ['0.000001', '0.5'],
    ['', ''],
  ])('converts $%s per call to %s quota', (price, quota) => {
    expect(quotaOfDollars(price)).toBe(quota)
  })
})
