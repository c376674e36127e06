import { useEffect, useMemo } from 'react'
import { isAdmin as isAdminUser, useUser } from '#console/api/session.ts'
import type { Sort } from '#console/ui/data-grid/column-and-layout.ts'
import type { PageSize } from '#console/ui/lists/list-url-params.ts'
import { usePageSize } from '#console/ui/lists/pagination.tsx'
import type { UrlValues } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { rangeText } from '#console/ui/time-range/time-range.ts'
import {
  filtersOf,
  type LOG_SORTS,
  LOG_URL_PARAMS,
  type LogFilters,
  NO_FILTERS,
} from './log-url-params.ts'

/** The default page size. This number of rows fills a window of 1280 × 800 px. */
const DEFAULT_PAGE_SIZE = 20

type Options = { replace?: boolean }

export type LogView = ReturnType<typeof useLogView>

export function useLogView() {
  const user = useUser()
  const isAdmin = isAdminUser(user)
  const [values, set] = useUrlState(LOG_URL_PARAMS)
  const [remembered, remember] = usePageSize('page-size', DEFAULT_PAGE_SIZE)
  const pageSize = values.page_size === 0 ? remembered : values.page_size
  // The page size is also in the URL, so that a link shows the same rows to every user.
  useEffect(() => {
    if (values.page_size === 0) set({ page_size: remembered }, { replace: true })
  }, [values.page_size, remembered, set])
  return useMemo(() => {
    const filters = filtersOf(values, isAdmin)
    const filterKey = JSON.stringify({ ...filters, range: rangeText(filters.range) })
    return {
      isAdmin,
      /** The id of the user whose rows are listed, or null for the rows of all users. */
      ownId: isAdmin ? null : (user?.id ?? 0),
      filters,
      /**
       * The sort order of the rows, or null for newest first. Rows of live events are inserted only
       * if the order is null.
       */
      sort: sortOf(values),
      page: values.p,
      pageSize,
      columns: values.columns,
      key: `${isAdmin} ${filterKey} ${values.sort} ${values.order} ${values.p} ${pageSize}`,
      setFilters: (patch: Partial<LogFilters>, options?: Options) =>
        set({ ...patch, p: 0 }, options),
      clearFilters: () => set({ ...NO_FILTERS, p: 0 }),
      setSort: ({ column, isDescending }: Sort) =>
        set({
          sort: column as keyof typeof LOG_SORTS,
          order: isDescending ? 'desc' : 'asc',
          p: 0,
        }),
      setPage: (p: number, options?: Options) => set({ p }, options),
      setPageSize: (size: PageSize) => {
        remember(size)
        set({ p: 0, page_size: size })
      },
      forgetColumns: () => set({ columns: '' }, { replace: true }),
    }
  }, [values, isAdmin, user?.id, pageSize, set, remember])
}

const sortOf = ({
  sort,
  order,
}: Pick<UrlValues<typeof LOG_URL_PARAMS>, 'sort' | 'order'>): Sort | null =>
  sort === '' || (sort === 'time' && order === 'desc')
    ? null
    : { column: sort, isDescending: order === 'desc' }
