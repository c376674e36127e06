import { formatDecimal, isNegative, parseDecimal } from '#console/ui/exact-decimal.ts'
import type { PriceRow } from './price-table.ts'

export const BATCH_FIELDS = ['ratio', 'completionRatio', 'cacheRatio'] as const
export type BatchField = (typeof BATCH_FIELDS)[number]
export type BatchDraft = Record<BatchField, string>
export type BatchFaults = Partial<Record<BatchField, 'notNumber' | 'negative'>>

export const emptyBatch: BatchDraft = { ratio: '', completionRatio: '', cacheRatio: '' }

/** What is wrong with the filled-in fields. */
export function batchFaults(draft: BatchDraft): BatchFaults {
  const faults: BatchFaults = {}
  for (const field of BATCH_FIELDS) {
    if (draft[field].trim() === '') continue
    const value = parseDecimal(draft[field])
    if (value === null) faults[field] = 'notNumber'
    else if (isNegative(value)) faults[field] = 'negative'
  }
  return faults
}

/** Those that a ratio for tokens would take a fixed price per call from. */
export const endedPrices = (rows: readonly PriceRow[], draft: BatchDraft): PriceRow[] =>
  draft.ratio.trim() === '' ? [] : rows.filter(({ price }) => price !== '')

/** The rows with the filled-in ratios; a ratio for tokens ends a fixed price per call. */
export function batchRows(rows: readonly PriceRow[], draft: BatchDraft): PriceRow[] {
  const filled = BATCH_FIELDS.flatMap((field) => {
    const value = parseDecimal(draft[field])
    return value === null ? [] : [[field, formatDecimal(value)] as const]
  })
  const patch = Object.fromEntries(filled)
  return rows.map((row) => ({ ...row, ...patch, price: 'ratio' in patch ? '' : row.price }))
}
