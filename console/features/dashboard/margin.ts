import { quotaOf } from '#console/ui/quota/money.ts'

/**
 * Totals in quota units. `quota` is the charge of all calls. `costed_quota` is the charge of the
 * calls with a known cost.
 */
export type CostTotals = {
  readonly quota: number
  readonly cost: number
  readonly costed_quota: number
}

export type Margin = {
  /** The charges minus the providers' costs, for calls with a known cost. */
  readonly amount: bigint
  /** The margin as a share of the charges, or null if these charges are 0. */
  readonly share: number | null
  /** The share of the charges whose cost is known, or 1 if there are no charges. */
  readonly coverage: number
}

/** Returns the margin, or null if no call has a known cost. A known cost may be 0. */
export function marginOf({ quota, cost, costed_quota: charged }: CostTotals): Margin | null {
  if (cost === 0 && charged === 0) return null
  return {
    amount: quotaOf(charged) - quotaOf(cost),
    share: charged === 0 ? null : (charged - cost) / charged,
    coverage: quota === 0 ? 1 : charged / quota,
  }
}
