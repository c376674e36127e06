import { formatDecimal, isNegative, parseDecimal } from '#console/ui/quota/exact-decimal.ts'
import type { PriceRow } from './price-rows.ts'

const RATIO_FIELDS = ['ratio', 'completionRatio', 'cacheRatio'] as const
/**
 * The prices that can be changed for several models at once. `price` is in dollars per call, or per
 * second of a video.
 */
const BULK_FIELDS = [...RATIO_FIELDS, 'price'] as const
/**
 * The fields that the form shows in each mode. A model has either ratios or a fixed price.
 */
export const FIELDS_OF = { ratio: RATIO_FIELDS, call: ['price'] } as const
export type BulkMode = keyof typeof FIELDS_OF
export type BulkField = (typeof BULK_FIELDS)[number]
export type BulkPriceDraft = Record<BulkField, string>
export type BulkErrorKey = 'notNumber' | 'negative'
type BulkErrorKeys = Partial<Record<BulkField, BulkErrorKey>>

const NO_RATIOS = { ratio: '', completionRatio: '', cacheRatio: '' }

export const emptyBulkPrice: BulkPriceDraft = { ...NO_RATIOS, price: '' }

export function validateBulkPrice(draft: BulkPriceDraft): BulkErrorKeys {
  const errorKeys: BulkErrorKeys = {}
  for (const field of BULK_FIELDS) {
    if (draft[field].trim() === '') continue
    const value = parseDecimal(draft[field])
    if (value === null) errorKeys[field] = 'notNumber'
    else if (isNegative(value)) errorKeys[field] = 'negative'
  }
  return errorKeys
}

export const rowsLosingFixedPrice = (
  rows: readonly PriceRow[],
  draft: BulkPriceDraft,
): PriceRow[] => (draft.ratio.trim() === '' ? [] : rows.filter(({ price }) => price !== ''))

/**
 * Returns the rows with the entered prices. A row has either ratios or a fixed price. A new fixed
 * price therefore removes the ratios, and a new model ratio removes the fixed price.
 */
export function bulkPriceRows(rows: readonly PriceRow[], draft: BulkPriceDraft): PriceRow[] {
  const filled = BULK_FIELDS.flatMap((field) => {
    const value = parseDecimal(draft[field])
    return value === null ? [] : [[field, formatDecimal(value)] as const]
  })
  const patch = Object.fromEntries(filled)
  const ended = 'price' in patch ? NO_RATIOS : 'ratio' in patch ? { price: '' } : {}
  return rows.map((row) => ({ ...row, ...patch, ...ended }))
}
