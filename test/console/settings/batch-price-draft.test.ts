import { describe, expect, it } from 'vitest'
import {
  batchRows,
  emptyBatch,
  rowsLosingFixedPrice,
  validateBatch,
} from '#console/features/settings/batch-price-draft.ts'
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

describe('ratios for many models at once', () => {
  it('only what is filled in changes', () => {
    expect(batchRows([row()], { ...emptyBatch, cacheRatio: '0.50' })).toEqual([
      row({ cacheRatio: '0.5' }),
    ])
  })

  it('a ratio for tokens ends a price per call; others leave it', () => {
    const perCall = row({ price: '0.04', ratio: '' })
    expect(batchRows([perCall], { ...emptyBatch, ratio: '3' })).toEqual([row({ ratio: '3' })])
    const kept = batchRows([perCall], { ...emptyBatch, completionRatio: '3' })
    expect(kept).toEqual([{ ...perCall, completionRatio: '3' }])
  })

  it('a fixed price per call ends the ratios', () => {
    const rows = [row({ cacheRatio: '0.5' }), row({ price: '0.04', ratio: '' })]
    const fixed = row({ price: '0.02', ratio: '', completionRatio: '' })
    expect(batchRows(rows, { ...emptyBatch, price: '0.020' })).toEqual([fixed, fixed])
    expect(validateBatch({ ...emptyBatch, price: 'x' })).toEqual({ price: 'notNumber' })
  })

  it('tells which fixed prices it would end', () => {
    const rows = [row(), row({ name: 'b', price: '0.04', ratio: '' })]
    expect(rowsLosingFixedPrice(rows, { ...emptyBatch, ratio: '3' })).toEqual([rows[1]])
    expect(rowsLosingFixedPrice(rows, { ...emptyBatch, cacheRatio: '3' })).toEqual([])
  })

  it('names every field that holds no number, and no empty one', () => {
    const draft = { ratio: '-1', completionRatio: 'x', cacheRatio: ' ', price: '' }
    expect(validateBatch(draft)).toEqual({ ratio: 'negative', completionRatio: 'notNumber' })
    expect(validateBatch(emptyBatch)).toEqual({})
  })
})

describe('what a price comes to', () => {
  it.each([
    ['2.5', '10', '0.0075'],
    ['0.15', '0.6', '0.00045'],
    ['0', '0', '0'],
    ['0.000001', '1', '0.000500001'],
  ])('1000 tokens in at $%s and 500 out at $%s cost $%s, exactly', (input, output, cost) => {
    expect(exampleCost(input, output)).toBe(cost)
  })

  it('is not said while a price is missing', () => {
    expect([exampleCost('', '1'), exampleCost('1', 'x')]).toEqual(['', ''])
  })

  it.each([
    ['0.04', '20000'],
    ['1', '500000'],
    ['0.000001', '0.5'],
    ['', ''],
  ])('$%s a call is %s quota', (price, quota) => {
    expect(quotaOfDollars(price)).toBe(quota)
  })
})
