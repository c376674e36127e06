import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { fetchData, type ListPage } from './request.ts'

/** `page` counts from 0. What is left out or empty filters nothing; newest first unless sorted. */
export type RedemptionQuery = {
  /** Part of a name, a whole id, or a whole key. */
  keyword: string
  page: number
  pageSize: number
  /** 1 to 3, as text. */
  status?: string
  sort?: string
  order?: 'asc' | 'desc'
}

export const redemptionsKey = ['redemptions'] as const

/** Redemption codes, or those among them that are sought. */
export const redemptionsQuery = (sought: RedemptionQuery) =>
  queryOptions({
    queryKey: [...redemptionsKey, sought],
    queryFn: ({ signal }) => fetchRedemptions(sought, signal),
    placeholderData: keepPreviousData,
  })

export async function fetchRedemptions(
  sought: RedemptionQuery,
  signal?: AbortSignal,
): Promise<ListPage<Redemption>> {
  const { page, pageSize, ...filter } = sought
  const isSearch = Boolean(filter.keyword || filter.status)
  const path = isSearch ? '/api/redemption/search' : '/api/redemption/'
  const query = { ...filter, p: page, page_size: pageSize }
  return fetchData({ path, query, signal })
}
