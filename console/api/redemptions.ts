import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { call } from './client.ts'
import { fetchAllPages, type ListPage, MATCHING_MAX } from './request.ts'

/** `page` is zero-based. An empty field does not filter. The default order is newest first. */
type RedemptionQuery = {
  /** A part of a name, a complete id, or a complete key. */
  keyword: string
  page: number
  pageSize: number
  /** The status from 1 to 3, as text. */
  status?: string
  sort?: string
  order?: 'asc' | 'desc'
}

export const redemptionsKey = ['redemptions'] as const

export const redemptionsQuery = (sought: RedemptionQuery) =>
  queryOptions({
    queryKey: [...redemptionsKey, sought],
    queryFn: ({ signal }) => fetchRedemptions(sought, signal),
    placeholderData: keepPreviousData,
  })

/** Reads all codes that match the filters, newest first, up to the limit of a bulk action. */
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
