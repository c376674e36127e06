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
  /** The filters at the time of the selection. If the filters change, the selection is cleared. */
  readonly under: string
  readonly keys: ReadonlySet<string>
  /** True after the user has selected the matching rows of all pages. */
  readonly isBeyond: boolean
}

export type SelectedRows<Row> = {
  readonly selectedRows: readonly Row[]
  readonly keys: ReadonlySet<string>
  readonly select: (keys: ReadonlySet<string>) => void
  readonly clearSelection: () => void
  /** The number of rows that `selectAll` would select, or 0 if it is not available. */
  readonly selectableCount: number
  readonly selectAll: () => Promise<void>
}

/**
 * Keeps the selected rows of a list. `matching` reads the rows of all pages, for selecting all of
 * them.
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
  const under = JSON.stringify(options.filters)
  const none: Stored = { under, keys: NONE, isBeyond: false }
  const [stored, setStored] = useState(none)
  const { keys, isBeyond } = stored.under === under ? stored : none
  const all = useQuery({ ...matching, enabled: isBeyond, staleTime: Number.POSITIVE_INFINITY })
  const pageIds = new Set(rows.map(({ id }) => id))
  const elsewhere = (isBeyond ? (all.data?.items ?? []) : []).filter(({ id }) => !pageIds.has(id))
  const selectedRows = [...rows, ...elsewhere].filter(({ id }) => keys.has(String(id)))
  const canAll = total > rows.length && total <= MATCHING_MAX
  return {
    selectedRows,
    keys,
    select: (next) => setStored({ under, keys: next, isBeyond }),
    clearSelection: () => setStored(none),
    selectableCount: canAll && selectedRows.length < total ? total : 0,
    selectAll: async () => {
      try {
        const { items } = await client.fetchQuery({ ...matching, staleTime: 0 })
        setStored({ under, keys: new Set(items.map(({ id }) => String(id))), isBeyond: true })
      } catch (error) {
        showError(error)
      }
    },
  }
}
