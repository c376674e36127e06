import type { Redemption } from '#read-api/contract/redemption.ts'
import { fetchRedemptions, type RedemptionQuery } from './list-redemptions.ts'

/** As many as one act may name. */
export const MATCHING_MAX = 1_000
const PAGE_SIZE = 100

/** Every code that the filters let through. */
export async function matchingRedemptions(
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
