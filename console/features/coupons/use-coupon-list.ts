import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useLiveTopic } from '#console/api/live/use-live-topic.ts'
import { redemptionsKey, redemptionsQuery } from '#console/api/redemptions.ts'
import type { Sort } from '#console/ui/data-grid/column.ts'
import { pagingOf, usePageSize } from '#console/ui/pagination.tsx'
import { choiceParam, integerParam, textParam } from '#console/ui/url-state.ts'
import { useThrottled } from '#console/ui/use-throttled.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'

/** Columns that can be sorted by, and what the server calls them. */
const SORTS = {
  id: 'id',
  name: 'name',
  status: 'status',
  quota: 'quota',
  uses: 'used_count',
  redeemed: 'redeemed_time',
  until: 'valid_until',
  created: 'created_time',
} as const
type SortColumn = keyof typeof SORTS

export const isSortable = (column: string): boolean => Object.hasOwn(SORTS, column)

export const STATUSES = ['1', '2', '3'] as const
export type StatusFilter = '' | (typeof STATUSES)[number]
export type CouponFilter = { keyword: string; status: StatusFilter }

const ADDRESS = {
  keyword: textParam(),
  status: choiceParam<StatusFilter>(STATUSES, ''),
  sort: choiceParam<SortColumn | ''>(Object.keys(SORTS) as SortColumn[], ''),
  order: choiceParam<'asc' | 'desc'>(['asc', 'desc'], 'desc'),
  page: integerParam({ fallback: 0, max: 1_000_000 }),
}

/** The page of codes that the address asks for, and how to ask for another. */
export function useCouponList() {
  const [{ keyword, status, sort, order, page }, setAddress] = useUrlState(ADDRESS)
  const size = usePageSize()
  const [pageSize] = size
  const sorted = sort === '' ? {} : { sort: SORTS[sort], order }
  const sought = { keyword, status }
  const query = redemptionsQuery({ ...sought, page, pageSize, ...sorted })
  const list = useQuery({ ...query, refetchOnMount: 'always' })
  useRedeemed()
  const total = list.data?.total ?? 0
  return {
    list,
    /** What is sought, whatever the order and the page. */
    sought,
    rows: list.data?.items ?? [],
    total,
    filter: { keyword, status },
    isFiltered: keyword !== '' || status !== '',
    setFilter: (patch: Partial<CouponFilter>, isTyping: boolean) =>
      setAddress({ ...patch, page: 0 }, { isTyping }),
    clear: () => setAddress({ keyword: '', status: '', page: 0 }),
    sort: sort === '' ? null : { column: sort, isDescending: order === 'desc' },
    setSort: ({ column, isDescending }: Sort) =>
      setAddress({ sort: column as SortColumn, order: isDescending ? 'desc' : 'asc', page: 0 }),
    paging: pagingOf({ page, total }, size, (next, how) => setAddress({ page: next }, how)),
  }
}

const TOP_UP = 1

/** Somebody redeemed a code: an admin hears of every row of the log, this one's among them. */
function useRedeemed(): void {
  const client = useQueryClient()
  const readAgain = useThrottled(() => {
    void client.invalidateQueries({ queryKey: redemptionsKey })
  }, 500)
  useLiveTopic('logs', {
    onEvents: (rows) => {
      if (rows.some(({ type }) => type === TOP_UP)) readAgain()
    },
    onResync: readAgain,
  })
}
