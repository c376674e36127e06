import { queryOptions } from '@tanstack/react-query'
import type { Token } from '#read-api/contract/token.ts'
import { fetchTokens, type TokenPage, type TokenQuery, tokensKey } from './list-tokens.ts'

/** As many as a user can have, and as one act may name. */
export const MATCHING_MAX = 1_000
const PAGE_SIZE = 100

type Filters = Omit<TokenQuery, 'page' | 'pageSize'>

/** Every token that the filters let through; in the shape of the lists' pages, and kept as they. */
export const matchingTokensQuery = (filters: Filters) =>
  queryOptions({
    queryKey: [...tokensKey, 'matching', filters],
    queryFn: ({ signal }) => matchingTokens(filters, signal),
  })

async function matchingTokens(filters: Filters, signal: AbortSignal): Promise<TokenPage> {
  const found = new Map<number, Token>()
  for (let page = 0; page * PAGE_SIZE < MATCHING_MAX; page += 1) {
    const asked = { ...filters, sort: 'id', order: 'desc', page, pageSize: PAGE_SIZE } as const
    const { items, total } = await fetchTokens(asked, signal)
    for (const item of items) found.set(item.id, item)
    if ((page + 1) * PAGE_SIZE >= total) break
  }
  return { items: [...found.values()], page: 0, total: found.size }
}
