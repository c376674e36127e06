import { useEffect, useMemo } from 'react'
import { isAdmin as isAdminUser, useUser } from '#console/api/session.ts'
import type { PageSize } from '#console/ui/list-address.ts'
import { usePageSize } from '#console/ui/pagination.tsx'
import { rangeText } from '#console/ui/time-range/time-range.ts'
import { useUrlState } from '#console/ui/use-url-state.ts'
import { filtersOf, LOG_URL, type LogFilters, NO_FILTERS } from './filters.ts'

/** Fills a window of 1280 × 800; the other lists begin with ten rows. */
const ROWS_AT_FIRST = 20

export type LogView = {
  readonly isAdmin: boolean
  /** Whose rows live ones must be; null where they may be anybody's. */
  readonly ownId: number | null
  readonly filters: LogFilters
  readonly page: number
  readonly pageSize: PageSize
  /** Ids with commas, from a link; empty for the remembered ones. */
  readonly columns: string
  /** Equal for equal filters, page and size: what queries and the live tail are kept by. */
  readonly key: string
  readonly setFilters: (patch: Partial<LogFilters>, options?: { replace?: boolean }) => void
  readonly clearFilters: () => void
  readonly setPage: (page: number, options?: { replace?: boolean }) => void
  readonly setPageSize: (size: PageSize) => void
  readonly forgetColumns: () => void
}

/** What is listed and how, from the address; and how to change it there. */
export function useLogView(): LogView {
  const user = useUser()
  const isAdmin = isAdminUser(user)
  const [values, set] = useUrlState(LOG_URL)
  const [remembered, remember] = usePageSize('page-size', ROWS_AT_FIRST)
  const pageSize = values.page_size === 0 ? remembered : values.page_size
  // The address says it always, so that a link shows the same rows to whoever opens it.
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
      page: values.p,
      pageSize,
      columns: values.columns,
      key: `${isAdmin} ${filterKey} ${values.p} ${pageSize}`,
      setFilters: (patch, options) => set({ ...patch, p: 0 }, options),
      clearFilters: () => set({ ...NO_FILTERS, p: 0 }),
      setPage: (p, options) => set({ p }, options),
      setPageSize: (size) => {
        remember(size)
        set({ p: 0, page_size: size })
      },
      forgetColumns: () => set({ columns: '' }, { replace: true }),
    }
  }, [values, isAdmin, user?.id, pageSize, set, remember])
}
