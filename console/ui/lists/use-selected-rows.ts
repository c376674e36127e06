import {
  type QueryKey,
  type UseQueryOptions,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useState } from 'react'
import { type ListPage, MATCHING_MAX } from '#console/api/request.ts'
import { showError } from '../messages/toast.ts'

const NONE: ReadonlySet<string> = new Set()

type Stored = {
  /**
   * The filters under which the rows were selected, as JSON. When the filters change, the selection
   * is cleared.
   */
  readonly filtersKey: string
  readonly keys: ReadonlySet<string>
  /**
   * True if the user has selected all matching rows at once. The selected rows can then be on other
   * pages.
   */
  readonly includesOtherPages: boolean
}

export type SelectedRows<Row> = {
  readonly selectedRows: readonly Row[]
  readonly keys: ReadonlySet<string>
  readonly select: (keys: ReadonlySet<string>) => void
  readonly clearSelection: () => void
  /** The number of rows that `selectAll` would select, or 0 if `selectAll` can't be used. */
  readonly selectableCount: number
  readonly selectAll: () => Promise<void>
}

/**
 * Keeps the selected rows of a list. `matching` is the query for all matching rows on all pages.
 * This query runs when the user selects all matching rows.
 */
export function useSelectedRows<
  Row extends { id: number },
  Match extends Row,
  Key extends QueryKey,
>(options: {
  readonly rows: readonly Row[]
  readonly total: number
  readonly filters: object
  readonly matching: UseQueryOptions<ListPage<Match>, Error, ListPage<Match>, Key>
}): SelectedRows<Row> {
  const { rows, total, matching } = options
  const client = useQueryClient()
  const filtersKey = JSON.stringify(options.filters)
  const none: Stored = { filtersKey, keys: NONE, includesOtherPages: false }
  const [stored, setStored] = useState(none)
  const { keys, includesOtherPages } = stored.filtersKey === filtersKey ? stored : none
  const all = useQuery({
    ...matching,
    enabled: includesOtherPages,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const pageIds = new Set(rows.map(({ id }) => id))
  const rowsOnOtherPages = (includesOtherPages ? (all.data?.items ?? []) : []).filter(
    ({ id }) => !pageIds.has(id),
  )
  const selectedRows = [...rows, ...rowsOnOtherPages].filter(({ id }) => keys.has(String(id)))
  const canSelectAll = total > rows.length && total <= MATCHING_MAX
  return {
    selectedRows,
    keys,
    select: (next) => setStored({ filtersKey, keys: next, includesOtherPages }),
    clearSelection: () => setStored(none),
    selectableCount: canSelectAll && selectedRows.length < total ? total : 0,
    selectAll: async () => {
      try {
        const { items } = await client.fetchQuery({ ...matching, staleTime: 0 })
        setStored({
          filtersKey,
          keys: new Set(items.map(({ id }) => String(id))),
          includesOtherPages: true,
        })
      } catch (error) {
        showError(error)
      }
    },
  }
}
