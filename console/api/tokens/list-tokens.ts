import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Token } from '#read-api/contract/token.ts'
import { request } from '../request.ts'

export type TokenPage = { items: Token[]; page: number; total: number }
/** `page` counts from 0. */
export type TokenQuery = { keyword: string; page: number; pageSize: number }

export const tokensKey = ['tokens'] as const

/** One's own tokens; with a keyword, those whose name holds it. */
export const tokensQuery = ({ keyword, page, pageSize }: TokenQuery) =>
  queryOptions({
    queryKey: [...tokensKey, { keyword, page, pageSize }],
    queryFn: async ({ signal }) => {
      const path = keyword === '' ? '/api/token/' : '/api/token/search'
      const query = { keyword, p: page, size: pageSize }
      return (await request<TokenPage>({ path, query, signal })).data
    },
    placeholderData: keepPreviousData,
  })
