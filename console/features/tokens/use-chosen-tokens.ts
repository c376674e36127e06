import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ListPage } from '#console/api/request.ts'
import { fetchTokens, type TokenQuery, tokensKey } from '#console/api/tokens.ts'
import { showError } from '#console/ui/toast.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import type { useTokenList } from './use-token-list.ts'

const NONE: ReadonlySet<string> = new Set()

type Chosen = {
  /** The filters it was chosen under: others choose anew. */
  readonly under: string
  readonly keys: ReadonlySet<string>
  /** All that match were asked for: those of other pages can be chosen too. */
  readonly isBeyond: boolean
}

/** Which tokens are chosen, over the rows and all that match as they are now. */
export function useChosenTokens({ rows, total, sought }: ReturnType<typeof useTokenList>) {
  const client = useQueryClient()
  const under = JSON.stringify(sought)
  const none = { under, keys: NONE, isBeyond: false }
  const [stored, setStored] = useState<Chosen>(none)
  const { keys, isBeyond } = stored.under === under ? stored : none
  const query = matchingTokensQuery(sought)
  // Read by `chooseAll`, then again whenever the list is: what was changed or deleted shows.
  const all = useQuery({ ...query, enabled: isBeyond, staleTime: Number.POSITIVE_INFINITY })
  const shown = new Set(rows.map(({ id }) => id))
  const matching = isBeyond ? (all.data?.items ?? []) : []
  const elsewhere = matching.filter(({ id }) => !shown.has(id))
  const picked = [...rows, ...elsewhere].filter(({ id }) => keys.has(String(id)))
  const canAll = total > rows.length && total <= MATCHING_MAX
  return {
    picked,
    keys,
    choose: (next: ReadonlySet<string>) => setStored({ under, keys: next, isBeyond }),
    chooseNone: () => setStored(none),
    /** How many could be chosen beyond this page; 0: this page is all, or there are too many. */
    choosable: canAll && picked.length < total ? total : 0,
    chooseAll: async () => {
      try {
        const { items } = await client.fetchQuery({ ...query, staleTime: 0 })
        const chosen = new Set(items.map(({ id }) => String(id)))
        setStored({ under, keys: chosen, isBeyond: true })
      } catch (error) {
        showError(error)
      }
    },
  }
}

/** As many as a user can have, and as one act may name. */
const MATCHING_MAX = 1_000
const PAGE_SIZE = 100

type Filters = Omit<TokenQuery, 'page' | 'pageSize'>

/** Every token that the filters let through; in the shape of the lists' pages, and kept as they. */
const matchingTokensQuery = (filters: Filters) =>
  queryOptions({
    queryKey: [...tokensKey, 'matching', filters],
    queryFn: ({ signal }) => matchingTokens(filters, signal),
  })

async function matchingTokens(filters: Filters, signal: AbortSignal): Promise<ListPage<Token>> {
  const found = new Map<number, Token>()
  for (let page = 0; page * PAGE_SIZE < MATCHING_MAX; page += 1) {
    const asked = { ...filters, sort: 'id', order: 'desc', page, pageSize: PAGE_SIZE } as const
    const { items, total } = await fetchTokens(asked, signal)
    for (const item of items) found.set(item.id, item)
    if ((page + 1) * PAGE_SIZE >= total) break
  }
  return { items: [...found.values()], page: 0, total: found.size }
}
