import { useEffect, useMemo } from 'react'
import { isAdmin as isAdminUser, useUser } from '#console/api/session.ts'
import type { Sort } from '#console/ui/data-grid/column.ts'
import type { PageSize } from '#console/ui/lists/list-address.ts'
import { usePageSize } from '#console/ui/lists/pagination.tsx'
import type { UrlValues } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { rangeText } from '#console/ui/time-range/time-range.ts'
import { filtersOf, type LOG_SORTS, LOG_URL, type LogFilters, NO_FILTERS } from './filters.ts'

/** Fills a window of 1280 × 800; other lists start with ten rows. */
const ROWS_AT_FIRST = 20

export type LogView = {
  readonly isAdmin: boolean
  /** The user whose rows may arrive live; null for all users. */
  readonly ownId: number | null
  readonly filters: LogFilters
  /** null: newest first, with live rows on top. */
  readonly sort: Sort | null
  readonly page: number
  readonly pageSize: PageSize
  /** Comma-separated ids from a link; empty means the remembered columns. */
  readonly columns: string
  /** Equal for equal filters, page and size; queries and the live tail use it as their key. */
  readonly key: string
  readonly setFilters: (patch: Partial<LogFilters>, options?: { replace?: boolean }) => void
  readonly clearFilters: () => void
  readonly setSort: (sort: Sort) => void
  readonly setPage: (page: number, options?: { replace?: boolean }) => void
  readonly setPageSize: (size: PageSize) => void
  readonly forgetColumns: () => void
}

/**
 * The filters and presentation of the list, read from the address, with functions that change it.
 */
export function useLogView(): LogView {
  const user = useUser()
  const isAdmin = isAdminUser(user)
  const [values, set] = useUrlState(LOG_URL)
  const [remembered, remember] = usePageSize('page-size', ROWS_AT_FIRST)
  const pageSize = values.page_size === 0 ? remembered : values.page_size
  // The address always contains them, so that a link shows the same rows to every reader.
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

/** The latest first is the order of the list without sorting. */
const sortOf = ({ sort, order }: Pick<UrlValues<typeof LOG_URL>, 'sort' | 'order'>): Sort | null =>
  sort === '' || (sort === 'time' && order === 'desc')
    ? null
    : { column: sort, isDescending: order === 'desc' }
