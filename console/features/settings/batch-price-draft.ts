import { formatDecimal, isNegative, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import type { PriceRow } from './price-rows.ts'

const RATIO_FIELDS = ['ratio', 'completionRatio', 'cacheRatio'] as const
/** The prices that can be changed for several models together. `price` is in dollars per call. */
const BATCH_FIELDS = [...RATIO_FIELDS, 'price'] as const
/**
 * The fields that the form shows in each mode. A model has either ratios or a fixed price per call.
 */
export const FIELDS_OF = { ratio: RATIO_FIELDS, call: ['price'] } as const
export type BatchMode = keyof typeof FIELDS_OF
export type BatchField = (typeof BATCH_FIELDS)[number]
export type BatchPriceDraft = Record<BatchField, string>
export type BatchErrorKey = 'notNumber' | 'negative'
type BatchErrorKeys = Partial<Record<BatchField, BatchErrorKey>>

const NO_RATIOS = { ratio: '', completionRatio: '', cacheRatio: '' }

export const emptyBatch: BatchPriceDraft = { ...NO_RATIOS, price: '' }

export function validateBatch(draft: BatchPriceDraft): BatchErrorKeys {
  const errorKeys: BatchErrorKeys = {}
  for (const field of BATCH_FIELDS) {
    if (draft[field].trim() === '') continue
    const value = parseDecimal(draft[field])
    if (value === null) errorKeys[field] = 'notNumber'
    else if (isNegative(value)) errorKeys[field] = 'negative'
  }
  return errorKeys
}

export const rowsLosingFixedPrice = (
  rows: readonly PriceRow[],
  draft: BatchPriceDraft,
): PriceRow[] => (draft.ratio.trim() === '' ? [] : rows.filter(({ price }) => price !== ''))

/**
 * Applies the prices to all rows. A row has either ratios or a price, so setting one removes the
 * other.
 */
export function batchRows(rows: readonly PriceRow[], draft: BatchPriceDraft): PriceRow[] {
  const filled = BATCH_FIELDS.flatMap((field) => {
    const value = parseDecimal(draft[field])
    return value === null ? [] : [[field, formatDecimal(value)] as const]
  })
  const patch = Object.fromEntries(filled)
  const ended = 'price' in patch ? NO_RATIOS : 'ratio' in patch ? { price: '' } : {}
  return rows.map((row) => ({ ...row, ...patch, ...ended }))
}
