import { quotaOf } from '#console/ui/money.ts'

/** As the server sums it up, in quota. */
export type Costed = {
  readonly quota: number
  readonly cost: number
  readonly costed_quota: number
}

export type Margin = {
  /** Charged less what providers ask, over the calls whose cost is known. */
  readonly amount: bigint
  /** Of what was charged for those; null where that is nothing. */
  readonly share: number | null
  /** How much of all that was charged those make up; 1 where nothing was charged. */
  readonly coverage: number
}

/** null: no cost is known, which is not a cost of nothing. */
export function marginOf({ quota, cost, costed_quota: charged }: Costed): Margin | null {
  if (cost === 0 && charged === 0) return null
  return {
    amount: quotaOf(charged) - quotaOf(cost),
    share: charged === 0 ? null : (charged - cost) / charged,
    coverage: quota === 0 ? 1 : charged / quota,
  }
}
