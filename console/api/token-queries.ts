import type { Token } from '#read-api/contract/tokens.ts'
import { call } from './client.ts'
import { type ListQuery, listQueries } from './list-queries.ts'
import type { ListPage } from './request.ts'

type TokenQuery = ListQuery & {
  /** Limits the list to tokens whose key contains this text. */
  token?: string
}

const ENABLED = 1

export const isEnabledToken = ({ status }: Pick<Token, 'status'>): boolean => status === ENABLED

export const tokensKey = ['tokens'] as const

const queries = listQueries<TokenQuery, Token>(tokensKey, fetchTokens)
export const tokensQuery = queries.page
export const matchingTokensQuery = queries.matching

export async function fetchTokens(
  listQuery: TokenQuery,
  signal?: AbortSignal,
): Promise<ListPage<Token>> {
  const { page, pageSize, ...filter } = listQuery
  const isSearch = Boolean(filter.keyword || filter.token || filter.status)
  const query = { ...filter, p: page, size: pageSize }
  return call(isSearch ? 'GET /api/token/search' : 'GET /api/token/', { query, signal })
}
