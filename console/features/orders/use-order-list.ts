import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { fetchData, type ListPage } from '#console/api/request.ts'
import { pagingOf, usePageSize } from '#console/ui/pagination.tsx'
import { integerParam, textParam } from '#console/ui/url-state.ts'
import { useThrottled } from '#console/ui/use-throttled.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import type { Order } from '#read-api/contract/top-ups.ts'

const ADDRESS = {
  keyword: textParam(),
  status: textParam(),
  page: integerParam({ fallback: 0, max: 1_000_000 }),
}

const EVERY_MS = 1_000
/** Types of log rows: a payment, and a refund or its restoration. */
const MOVEMENTS: readonly number[] = [1, 3]

/** The page of orders that the address asks for, read again whenever money came in or went back. */
export function useOrderList() {
  const [{ page, ...filter }, setAddress] = useUrlState(ADDRESS)
  const size = usePageSize()
  const [pageSize] = size
  const list = useQuery(allOrdersQuery({ ...filter, page, pageSize }))
  const readAgain = useThrottled(() => void list.refetch(), EVERY_MS)
  useLiveTopic('logs', {
    onEvents: (rows) => {
      if (rows.some(({ type }) => MOVEMENTS.includes(type))) readAgain()
    },
    onResync: readAgain,
  })
  const paging = pagingOf({ page, total: list.data?.total }, size, (next, how) =>
    setAddress({ page: next }, how),
  )
  return {
    list,
    rows: list.data?.items ?? [],
    filter,
    isFiltered: filter.keyword !== '' || filter.status !== '',
    setFilter: (patch: Partial<typeof filter>, options?: { isTyping: boolean }) =>
      setAddress({ ...patch, page: 0 }, options),
    clear: () => setAddress({ keyword: '', status: '', page: 0 }),
    paging,
  }
}

export type OrderListView = ReturnType<typeof useOrderList>

/** `page` counts from 0. Empty texts ask for all; newest first. */
type OrderQuery = { keyword: string; status: string; page: number; pageSize: number }

/** Everybody's top-ups, for admins. */
const allOrdersQuery = (asked: OrderQuery) =>
  queryOptions({
    queryKey: ['orders', 'all', asked],
    queryFn: async ({ signal }) => {
      const { keyword, status, page, pageSize } = asked
      const query = { keyword, status, p: page, page_size: pageSize }
      return fetchData<ListPage<Order>>({ path: '/api/user/topup', query, signal })
    },
    placeholderData: keepPreviousData,
    refetchOnMount: 'always',
    refetchOnWindowFocus: 'always',
  })
