import type { Token } from '#read-api/contract/token.ts'
import { fetchTokens, type TokenQuery } from './list-tokens.ts'

/** As many as a user can have, and as one act may name. */
export const MATCHING_MAX = 1_000
const PAGE_SIZE = 100

/** Every token that the filters let through. */
export async function matchingTokens(
  filters: Omit<TokenQuery, 'page' | 'pageSize'>,
): Promise<readonly Token[]> {
  const found = new Map<number, Token>()
  for (let page = 0; page * PAGE_SIZE < MATCHING_MAX; page += 1) {
    const asked = { ...filters, sort: 'id', order: 'desc', page, pageSize: PAGE_SIZE } as const
    const { items, total } = await fetchTokens(asked)
    for (const item of items) found.set(item.id, item)
    if ((page + 1) * PAGE_SIZE >= total) break
  }
  return [...found.values()]
}
