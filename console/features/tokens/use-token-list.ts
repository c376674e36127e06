import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { tokensQuery } from '#console/api/tokens.ts'
import type { Sort } from '#console/ui/data-grid/column.ts'
import { pagingOf, usePageSize } from '#console/ui/pagination.tsx'
import { useNow } from '#console/ui/time.tsx'
import { choiceParam, integerParam, textParam } from '#console/ui/url-state.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import { STATUSES, type StatusFilter, type TokenFilter } from './token-filters.tsx'
import { asOf } from './token-status.ts'

/** Columns that can be sorted by, and what the server calls them. */
const SORTS = {
  id: 'id',
  name: 'name',
  status: 'status',
  quota: 'remain_quota',
  expiry: 'expired_time',
  group: 'group',
  lastUsed: 'accessed_time',
  created: 'created_time',
} as const
type SortColumn = keyof typeof SORTS

export const isSortable = (column: string): boolean => Object.hasOwn(SORTS, column)

const ADDRESS = {
  keyword: textParam(),
  status: choiceParam<StatusFilter>(STATUSES, ''),
  sort: choiceParam<SortColumn | ''>(Object.keys(SORTS) as SortColumn[], ''),
  order: choiceParam<'asc' | 'desc'>(['asc', 'desc'], 'desc'),
  page: integerParam({ fallback: 0, max: 1_000_000 }),
}

/** The page of tokens that the address asks for, as it is now, and how to ask for another. */
export function useTokenList() {
  const [{ keyword, status, sort, order, page }, setAddress] = useUrlState(ADDRESS)
  const [soughtKey, setSoughtKey] = useState('')
  const size = usePageSize()
  const [pageSize] = size
  const now = useNow()
  const sorted = sort === '' ? {} : { sort: SORTS[sort], order }
  const sought = { keyword, status, token: soughtKey.trim() }
  const list = useQuery({
    ...tokensQuery({ ...sought, page, pageSize, ...sorted }),
    // Every call changes what a token has left.
    refetchOnMount: 'always',
  })
  const seekKey = (key: string) => {
    setSoughtKey(key)
    setAddress({ page: 0 })
  }
  return {
    list,
    /** What is sought, whatever the order and the page. */
    sought,
    rows: (list.data?.items ?? []).map((token) => asOf(token, now)),
    total: list.data?.total ?? 0,
    filter: { keyword, status },
    isFiltered: keyword !== '' || status !== '' || sought.token !== '',
    setFilter: (patch: Partial<TokenFilter>, isTyping: boolean) =>
      setAddress({ ...patch, page: 0 }, { isTyping }),
    soughtKey,
    seekKey,
    clear: () => {
      setSoughtKey('')
      setAddress({ keyword: '', status: '', page: 0 })
    },
    sort: sort === '' ? null : { column: sort, isDescending: order === 'desc' },
    setSort: ({ column, isDescending }: Sort) =>
      setAddress({ sort: column as SortColumn, order: isDescending ? 'desc' : 'asc', page: 0 }),
    paging: pagingOf({ page, total: list.data?.total }, size, (next, how) =>
      setAddress({ page: next }, how),
    ),
  }
}
