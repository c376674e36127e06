import { quotaOf } from '#console/ui/quota/money.ts'

/**
 * Totals of calls in quota units. `quota` is what users were charged for all calls. `costed_quota`
 * is what they were charged for those calls whose cost is known. `cost` is what the providers
 * charge for these calls.
 */
export type CostTotals = {
  readonly quota: number
  readonly cost: number
  readonly costed_quota: number
}

export type Margin = {
  /** The charges of users minus the charges of providers, for calls whose cost is known. */
  readonly amount: bigint
  /**
   * `amount` divided by the charges of users for calls whose cost is known, or null if these
   * charges are 0.
   */
  readonly share: number | null
  /**
   * The share (0 to 1) of all charges that belongs to calls whose cost is known, or 1 if there are
   * no charges.
   */
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
