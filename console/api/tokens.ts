import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Token } from '#read-api/contract/tokens.ts'
import { call } from './client.ts'
import { fetchAllPages, type ListPage, MATCHING_MAX } from './request.ts'

/** `page` is zero-based. An empty field does not filter. The default order is newest first. */
type TokenQuery = {
  keyword: string
  page: number
  pageSize: number
  /** A complete key or a part of a key. */
  token?: string
  /** The status from 1 to 4, as text. */
  status?: string
  sort?: string
  order?: 'asc' | 'desc'
}

export const tokensKey = ['tokens'] as const

export const tokensQuery = (sought: TokenQuery) =>
  queryOptions({
    queryKey: [...tokensKey, sought],
    queryFn: ({ signal }) => fetchTokens(sought, signal),
    placeholderData: keepPreviousData,
  })

/** Reads all tokens that match the filters, newest first, up to the limit of a bulk action. */
export const matchingTokensQuery = (filters: Omit<TokenQuery, 'page' | 'pageSize'>) =>
  queryOptions({
    queryKey: [...tokensKey, 'matching', filters],
    queryFn: ({ signal }) =>
      fetchAllPages((page, pageSize) => {
        const ask = { ...filters, sort: 'id', order: 'desc', page, pageSize } as const
        return fetchTokens(ask, signal)
      }, MATCHING_MAX),
  })

export async function fetchTokens(
  sought: TokenQuery,
  signal?: AbortSignal,
): Promise<ListPage<Token>> {
  const { page, pageSize, ...filter } = sought
  const isSearch = Boolean(filter.keyword || filter.token || filter.status)
  const query = { ...filter, p: page, size: pageSize }
  return call(isSearch ? 'GET /api/token/search' : 'GET /api/token/', { query, signal })
}
