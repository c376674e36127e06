import { quotaOf } from '#console/ui/quota/money.ts'

/** The server's sums, in quota. */
export type Costed = {
  readonly quota: number
  readonly cost: number
  readonly costed_quota: number
}

export type Margin = {
  /** The charges less the providers' costs, over the calls whose cost is known. */
  readonly amount: bigint
  /** The amount as a share of those charges; null when they are 0. */
  readonly share: number | null
  /** The share of all charges that belongs to calls with known cost; 1 when nothing was charged. */
  readonly coverage: number
}

/** null when no cost is known, which differs from a cost of 0. */
export function marginOf({ quota, cost, costed_quota: charged }: Costed): Margin | null {
  if (cost === 0 && charged === 0) return null
  return {
    amount: quotaOf(charged) - quotaOf(cost),
    share: charged === 0 ? null : (charged - cost) / charged,
    coverage: quota === 0 ? 1 : charged / quota,
  }
}
