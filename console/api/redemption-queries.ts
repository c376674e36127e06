import type { Redemption } from '#read-api/contract/redemptions.ts'
import { call } from './client.ts'
import { type ListQuery, listQueries } from './list-queries.ts'
import type { ListPage } from './request.ts'

export const redemptionsKey = ['redemptions'] as const

const queries = listQueries<ListQuery, Redemption>(redemptionsKey, fetchRedemptions)
export const redemptionsQuery = queries.page
export const matchingRedemptionsQuery = queries.matching

async function fetchRedemptions(
  listQuery: ListQuery,
  signal?: AbortSignal,
): Promise<ListPage<Redemption>> {
  const { page, pageSize, ...filter } = listQuery
  const isSearch = Boolean(filter.keyword || filter.status)
  const query = { ...filter, p: page, page_size: pageSize }
  return call(isSearch ? 'GET /api/redemption/search' : 'GET /api/redemption/', { query, signal })
}
