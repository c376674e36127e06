import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import { call } from './client.ts'
import { fetchAllPages, type ListPage, type ListSort, MATCHING_MAX } from './request.ts'

/**
 * The filters and page of a list. `page` starts at 0, and an empty filter has no effect. The
 * default order is newest first.
 */
type ListQuery = ListSort & {
  keyword: string
  page: number
  pageSize: number
  /** The status, as the text of its number. */
  status?: string
}

function listQueries<Query extends ListQuery, Row extends { id: number }>(
  key: readonly string[],
  fetchPage: (query: Query, signal?: AbortSignal) => Promise<ListPage<Row>>,
) {
  const page = (query: Query) =>
    queryOptions({
      queryKey: [...key, query],
      queryFn: ({ signal }) => fetchPage(query, signal),
      placeholderData: keepPreviousData,
    })
  /**
   * Reads all rows that match the filters, for an action on all of them. If there are more than
   * `MATCHING_MAX`, reads the newest ones.
   */
  const matching = (filters: Omit<Query, 'page' | 'pageSize'>) =>
    queryOptions({
      queryKey: [...key, 'matching', filters],
      queryFn: ({ signal }) =>
        fetchAllPages((number, pageSize) => {
          const order = { sort: 'id', order: 'desc', page: number, pageSize }
          return fetchPage({ ...filters, ...order } as Query, signal)
        }, MATCHING_MAX),
    })
  return { page, matching }
}

export const redemptionsKey = ['redemptions'] as const

const redemptionQueries = listQueries<ListQuery, Redemption>(redemptionsKey, fetchRedemptions)
export const redemptionsQuery = redemptionQueries.page
export const matchingRedemptionsQuery = redemptionQueries.matching

async function fetchRedemptions(
  listQuery: ListQuery,
  signal?: AbortSignal,
): Promise<ListPage<Redemption>> {
  const { page, pageSize, ...filter } = listQuery
  const isSearch = Boolean(filter.keyword || filter.status)
  const query = { ...filter, p: page, page_size: pageSize }
  return call(isSearch ? 'GET /api/redemption/search' : 'GET /api/redemption/', { query, signal })
}

type TokenQuery = ListQuery & {
  /** Limits the list to tokens whose key contains this text. */
  token?: string
}

export const tokensKey = ['tokens'] as const

const tokenQueries = listQueries<TokenQuery, Token>(tokensKey, fetchTokens)
export const tokensQuery = tokenQueries.page
export const matchingTokensQuery = tokenQueries.matching

const ENABLED = '1'

/** Reads the newest of the user's enabled tokens, up to this number. */
export const fetchEnabledTokens = (pageSize: number, signal?: AbortSignal) =>
  fetchTokens({ keyword: '', status: ENABLED, page: 0, pageSize }, signal)

async function fetchTokens(listQuery: TokenQuery, signal?: AbortSignal): Promise<ListPage<Token>> {
  const { page, pageSize, ...filter } = listQuery
  const isSearch = Boolean(filter.keyword || filter.token || filter.status)
  const query = { ...filter, p: page, size: pageSize }
  return call(isSearch ? 'GET /api/token/search' : 'GET /api/token/', { query, signal })
}
