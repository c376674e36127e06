import { quotaOf } from '#console/ui/quota/money.ts'

/** The server's totals, in quota. */
export type Costed = {
  readonly quota: number
  readonly cost: number
  readonly costed_quota: number
}

export type Margin = {
  /** Charges minus provider costs, over the calls whose cost is known. */
  readonly amount: bigint
  /** `amount` as a share of the charges of calls with known cost; null if these are 0. */
  readonly share: number | null
  /** The share of all charges that belongs to calls with known cost; 1 if nothing was charged. */
  readonly coverage: number
}

/** Returns null if no cost is known, which differs from a cost of 0. */
export function marginOf({ quota, cost, costed_quota: charged }: Costed): Margin | null {
  if (cost === 0 && charged === 0) return null
  return {
    amount: quotaOf(charged) - quotaOf(cost),
    share: charged === 0 ? null : (charged - cost) / charged,
    coverage: quota === 0 ? 1 : charged / quota,
  }
}
