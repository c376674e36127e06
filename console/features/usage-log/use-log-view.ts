import { useEffect, useMemo } from 'react'
import { isAdmin as isAdminUser, useUser } from '#console/api/session.ts'
import type { Sort } from '#console/ui/data-grid/column.ts'
import type { PageSize } from '#console/ui/lists/list-address.ts'
import { usePageSize } from '#console/ui/lists/pagination.tsx'
import type { UrlValues } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { rangeText } from '#console/ui/time-range/time-range.ts'
import { filtersOf, type LOG_SORTS, LOG_URL, type LogFilters, NO_FILTERS } from './filters.ts'

/** The default page size, which fills a window of 1280 × 800 (other lists have ten rows). */
const ROWS_AT_FIRST = 20

export type LogView = {
  readonly isAdmin: boolean
  /** The user whose live rows are shown, or null for the rows of all users. */
  readonly ownId: number | null
  readonly filters: LogFilters
  /** Null means newest first, the only order with live rows. */
  readonly sort: Sort | null
  readonly page: number
  readonly pageSize: PageSize
  /** The column ids of a link, separated by commas. If empty, this browser's columns apply. */
  readonly columns: string
  /** A key that changes with filters, order, page and page size. Queries and live rows use it. */
  readonly key: string
  readonly setFilters: (patch: Partial<LogFilters>, options?: { replace?: boolean }) => void
  readonly clearFilters: () => void
  readonly setSort: (sort: Sort) => void
  readonly setPage: (page: number, options?: { replace?: boolean }) => void
  readonly setPageSize: (size: PageSize) => void
  readonly forgetColumns: () => void
}

/** Reads the filters and the presentation from the URL, with functions that change them. */
export function useLogView(): LogView {
  const user = useUser()
  const isAdmin = isAdminUser(user)
  const [values, set] = useUrlState(LOG_URL)
  const [remembered, remember] = usePageSize('page-size', ROWS_AT_FIRST)
  const pageSize = values.page_size === 0 ? remembered : values.page_size
  // Always keep the page size in the URL, so that a link shows the same rows to every user.
  useEffect(() => {
    if (values.page_size === 0) set({ page_size: remembered }, { replace: true })
  }, [values.page_size, remembered, set])
  return useMemo(() => {
    const filters = filtersOf(values, isAdmin)
    const filterKey = JSON.stringify({ ...filters, range: rangeText(filters.range) })
    return {
      isAdmin,
      ownId: isAdmin ? null : (user?.id ?? 0),
      filters,
      sort: sortOf(values),
      page: values.p,
      pageSize,
      columns: values.columns,
      key: `${isAdmin} ${filterKey} ${values.sort} ${values.order} ${values.p} ${pageSize}`,
      setFilters: (patch, options) => set({ ...patch, p: 0 }, options),
      clearFilters: () => set({ ...NO_FILTERS, p: 0 }),
      setSort: ({ column, isDescending }) =>
        set({
          sort: column as keyof typeof LOG_SORTS,
          order: isDescending ? 'desc' : 'asc',
          p: 0,
        }),
      setPage: (p, options) => set({ p }, options),
      setPageSize: (size) => {
        remember(size)
        set({ p: 0, page_size: size })
      },
      forgetColumns: () => set({ columns: '' }, { replace: true }),
    }
  }, [values, isAdmin, user?.id, pageSize, set, remember])
}

/** Returns the sort order of the URL, or null for the default: newest first. */
const sortOf = ({ sort, order }: Pick<UrlValues<typeof LOG_URL>, 'sort' | 'order'>): Sort | null =>
  sort === '' || (sort === 'time' && order === 'desc')
    ? null
    : { column: sort, isDescending: order === 'desc' }
