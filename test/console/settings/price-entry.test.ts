import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  changedRow,
  convertToMode,
  draftOfRow,
  emptyPrice,
  type PriceDraft,
  rowOfDraft,
  validatePrice,
} from '#console/features/settings/price-draft.ts'
import {
  type PriceRow,
  priceRows,
  readPriceMaps,
  withRows,
} from '#console/features/settings/price-rows.ts'

/** Entered dollars per million tokens, at most 99 999.999999. */
const price = fc
  .oneof(
    fc.integer({ min: 1, max: 99_999_999_999 }),
    fc.integer({ min: 1, max: 999_999 }),
    fc.integer({ min: 1, max: 2_000 }).map((cents) => cents * 10_000),
  )
  .map((millionths) => String(millionths).padStart(7, '0'))
  .map((digits) => `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, ''))
const edit = fc.record({
  field: fc.constantFrom('inputPrice' as const, 'outputPrice' as const),
  price,
  isByRatios: fc.boolean(),
})

/** Saves the prices as the texts of the options, and reads them again. */
function saved(row: PriceRow): PriceRow {
  const maps = readPriceMaps(new Map())
  const texts = maps === null ? new Map() : withRows(maps, [row])
  const read = readPriceMaps(texts)
  const found = read === null ? undefined : priceRows(read).find(({ name }) => name === row.name)
  if (found === undefined) throw new Error('the row was not saved')
  return found
}

describe('an entered price', () => {
  it('is shown unchanged after any sequence of edits', () => {
    const start = fc.record({ inputPrice: price, outputPrice: price })
    fc.assert(
      fc.property(start, fc.array(edit, { maxLength: 12 }), (first, edits) => {
        const expected = { ...first }
        const draft: PriceDraft = { ...emptyPrice, ...first, name: 'm' }
        expect(validatePrice(draft, new Set())).toEqual({})
        let row = saved(rowOfDraft(draft))
        for (const { field, price, isByRatios } of edits) {
          const before = draftOfRow(row)
          // Switches to the ratios and back.
          const opened = isByRatios
            ? convertToMode(convertToMode(before, 'ratio'), 'price')
            : before
          const after = { ...opened, [field]: price }
          expect(validatePrice(after, new Set(), before)).toEqual({})
          expected[field] = price
          row = saved(changedRow(row, before, after))
        }
        const { inputPrice, outputPrice } = draftOfRow(row)
        expect({ inputPrice, outputPrice }).toEqual(expected)
      }),
      { numRuns: 2_000 },
    )
  })

  it('keeps an output of $20 when the input changes from $5 to $6', () => {
    const row = rowOfDraft({ ...emptyPrice, name: 'm', inputPrice: '5', outputPrice: '20' })
    const before = draftOfRow(row)
    const dearer = changedRow(row, before, { ...before, inputPrice: '6' })
    expect(draftOfRow(dearer)).toMatchObject({ inputPrice: '6', outputPrice: '20' })
  })

  it('has at most six decimals, unless the user left it unchanged', () => {
    const draft = { ...emptyPrice, name: 'm', inputPrice: '0.0000001', outputPrice: '100000' }
    const faults = { inputPrice: 'tooFine', outputPrice: 'tooFine' }
    expect(validatePrice(draft, new Set())).toEqual(faults)
    expect(validatePrice(draft, new Set(), draft)).toEqual({})
  })
})
