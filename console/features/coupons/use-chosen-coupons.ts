import { useState } from 'react'
import { fetchRedemptions, type RedemptionQuery } from '#console/api/redemptions.ts'
import { showError } from '#console/ui/toast.ts'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import type { useCouponList } from './use-coupon-list.ts'

type Chosen = {
  /** The filters it was chosen under: others choose anew. */
  readonly under: string
  readonly keys: ReadonlySet<string>
  /** Of other pages, as they were when all that match were chosen. */
  readonly beyond: readonly Redemption[]
}

const NONE: ReadonlySet<string> = new Set()

/** Which codes are chosen, over the rows and all that match. */
export function useChosenCoupons({ rows, total, sought }: ReturnType<typeof useCouponList>) {
  const under = JSON.stringify(sought)
  const none: Chosen = { under, keys: NONE, beyond: [] }
  const [stored, setStored] = useState<Chosen>(none)
  const { keys, beyond } = stored.under === under ? stored : none
  const shown = new Set(rows.map(({ id }) => id))
  const elsewhere = beyond.filter(({ id }) => !shown.has(id))
  const picked = [...rows, ...elsewhere].filter(({ id }) => keys.has(String(id)))
  const canAll = total > rows.length && total <= MATCHING_MAX
  return {
    picked,
    keys,
    choose: (next: ReadonlySet<string>) => setStored({ under, keys: next, beyond }),
    chooseNone: () => setStored(none),
    /** How many could be chosen beyond this page; 0: this page is all, or there are too many. */
    choosable: canAll && picked.length < total ? total : 0,
    chooseAll: async () => {
      try {
        const all = await matchingRedemptions(sought)
        setStored({ under, keys: new Set(all.map(({ id }) => String(id))), beyond: all })
      } catch (error) {
        showError(error)
      }
    },
  }
}

/** As many as one act may name. */
const MATCHING_MAX = 1_000
const PAGE_SIZE = 100

/** Every code that the filters let through. */
async function matchingRedemptions(
  filters: Omit<RedemptionQuery, 'page' | 'pageSize'>,
): Promise<readonly Redemption[]> {
  const found = new Map<number, Redemption>()
  for (let page = 0; page * PAGE_SIZE < MATCHING_MAX; page += 1) {
    const asked = { ...filters, sort: 'id', order: 'desc', page, pageSize: PAGE_SIZE } as const
    const { items, total } = await fetchRedemptions(asked)
    for (const item of items) found.set(item.id, item)
    if ((page + 1) * PAGE_SIZE >= total) break
  }
  return [...found.values()]
}
