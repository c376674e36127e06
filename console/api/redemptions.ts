import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { call } from './client.ts'
import { fetchAllPages, type ListPage, MATCHING_MAX } from './request.ts'

/** `page` counts from 0. What is left out or empty filters nothing; newest first unless sorted. */
type RedemptionQuery = {
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

/** Everything that the filters let through, newest first; as many as one act may name. */
export const matchingRedemptionsQuery = (filters: Omit<RedemptionQuery, 'page' | 'pageSize'>) =>
  queryOptions({
    queryKey: [...redemptionsKey, 'matching', filters],
    queryFn: ({ signal }) =>
      fetchAllPages((page, pageSize) => {
        const ask = { ...filters, sort: 'id', order: 'desc', page, pageSize } as const
        return fetchRedemptions(ask, signal)
      }, MATCHING_MAX),
  })

async function fetchRedemptions(
  sought: RedemptionQuery,
  signal?: AbortSignal,
): Promise<ListPage<Redemption>> {
  const { page, pageSize, ...filter } = sought
  const isSearch = Boolean(filter.keyword || filter.status)
  const query = { ...filter, p: page, page_size: pageSize }
  return call(isSearch ? 'GET /api/redemption/search' : 'GET /api/redemption/', { query, signal })
}
