import { formatDecimal, isNegative, parseDecimal } from '#console/ui/exact-decimal.ts'
import type { PriceRow } from './price-table.ts'

export const BATCH_FIELDS = ['ratio', 'completionRatio', 'cacheRatio'] as const
export type BatchField = (typeof BATCH_FIELDS)[number]
export type BatchDraft = Record<BatchField, string>

export const emptyBatch: BatchDraft = { ratio: '', completionRatio: '', cacheRatio: '' }

/** The filled-in fields that hold no number. */
export function batchFaults(draft: BatchDraft): Set<BatchField> {
  return new Set(
    BATCH_FIELDS.filter((field) => {
      if (draft[field].trim() === '') return false
      const value = parseDecimal(draft[field])
      return value === null || isNegative(value)
    }),
  )
}

/** The rows with the filled-in ratios; a ratio for tokens ends a fixed price per call. */
export function batchRows(rows: readonly PriceRow[], draft: BatchDraft): PriceRow[] {
  const filled = BATCH_FIELDS.flatMap((field) => {
    const value = parseDecimal(draft[field])
    return value === null ? [] : [[field, formatDecimal(value)] as const]
  })
  const patch = Object.fromEntries(filled)
  return rows.map((row) => ({ ...row, ...patch, price: 'ratio' in patch ? '' : row.price }))
}
