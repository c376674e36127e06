import {
  type QueryKey,
  type UseQueryOptions,
  type UseQueryResult,
  useQuery,
} from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import type { ListPage } from '#console/api/request.ts'
import type { Sort } from '../data-grid/column-and-layout.ts'
import { fallbacksOf, type UrlSchema, type UrlValues } from '../state/url-state.ts'
import { type SetUrlState, useUrlState } from '../state/use-url-state.ts'
import type { ListQuery, ListUrlParams, PageSize } from './list-url-params.ts'
import { type Paging, pagingOf, usePageSize } from './pagination.tsx'

export type ListView<Row> = {
  readonly list: Pick<UseQueryResult<unknown>, 'data' | 'error' | 'isPending' | 'isPlaceholderData'>
  readonly rows: readonly Row[]
  readonly sorts: Readonly<Record<string, string>>
  readonly sort: Sort | null
  readonly setSort: (sort: Sort) => void
  readonly isFiltered: boolean
  readonly clear: () => void
  readonly refresh: () => void
  readonly paging: Paging
}

/**
 * Reads one page of a list. The filters, the order and the page are in the URL. When the filters or
 * the order change, the first page is opened.
 */
export function useListPage<
  Filters extends UrlSchema,
  Page extends ListPage<unknown>,
  Key extends QueryKey,
>(
  address: ListUrlParams<Filters>,
  queryOf: (ask: ListQuery<Filters>) => UseQueryOptions<Page, Error, Page, Key>,
  /** The key under which this browser stores the page size. Most lists share one key. */
  pageSizeKey?: string,
) {
  const { filters, sorts, pageName, isKeyset, params } = address
  const [values, setAddress] = useUrlState(params)
  const names = Object.keys(filters)
  const filter = pick(values, names) as UrlValues<Filters>
  const page: number = values[pageName]
  const { sort = '', order = 'desc' } = values
  const size = usePageSizeFromUrl(usePageSize(pageSizeKey), values.page_size, setAddress)
  const [pageSize] = size
  const sorted = sort === '' ? {} : { sort: sorts[sort], order }
  const starts = usePageStarts(JSON.stringify([filter, pageSize, sorted]))
  const after = isKeyset ? starts.get(page) : undefined
  const start = after === undefined ? {} : { after }
  const listQuery = { ...filter, page, pageSize, ...sorted, ...start } as ListQuery<Filters>
  const list = useQuery({
    ...queryOf(listQuery),
    // The rows are read on every mount, because other users or programs may have changed them.
    refetchOnMount: 'always',
  })
  const lastId = list.isPlaceholderData ? undefined : idOf(list.data?.items.at(-1))
  useEffect(() => storePageStart(starts, page + 1, lastId), [starts, page, lastId])
  const total = list.data?.total ?? 0
  const setFilter = useCallback(
    (patch: Partial<UrlValues<Filters>>, how?: { isTyping: boolean }) =>
      setAddress({ ...patch, [pageName]: 0 }, how),
    [setAddress, pageName],
  )
  return {
    list,
    listQuery,
    rows: (list.data?.items ?? NONE) as Page['items'],
    total,
    filter,
    isFiltered: names.some((name) => values[name] !== filters[name]?.fallback),
    setFilter,
    setAddress,
    clear: () => setFilter(fallbacksOf(filters)),
    refresh: () => void list.refetch(),
    sorts,
    sort: sort === '' ? null : { column: sort as string, isDescending: order === 'desc' },
    /** Changes the order. Null means the default order. */
    setSort: (next: Sort | null) =>
      setAddress({
        sort: next?.column ?? '',
        order: next?.isDescending === false ? 'asc' : 'desc',
        [pageName]: 0,
      }),
    paging: pagingOf({ page, total }, size, (next, how) => setAddress({ [pageName]: next }, how)),
  }
}

/**
 * The id of the last row before each page, by page number. Only pages whose previous page the user
 * has seen have an entry.
 */
type PageStarts = Map<number, number>

/**
 * Remembers where the pages of a list start. A page therefore does not shift when rows of earlier
 * pages are added or deleted. `list` identifies the filters, the page size and the order. When
 * `list` changes, all starts are forgotten.
 */
function usePageStarts(list: string): PageStarts {
  const pageStarts = useRef({ list, starts: new Map<number, number>() })
  if (pageStarts.current.list !== list) pageStarts.current = { list, starts: new Map() }
  return pageStarts.current.starts
}

/**
 * Stores the id of the last row before a page. If this id has changed, the entries of later pages
 * are no longer valid and are deleted.
 */
function storePageStart(starts: PageStarts, page: number, id: number | undefined): void {
  if (id === undefined || starts.get(page) === id) return
  for (const later of starts.keys()) if (later > page) starts.delete(later)
  starts.set(page, id)
}

const idOf = (row: unknown): number | undefined => {
  const id = typeof row === 'object' && row !== null && 'id' in row ? row.id : undefined
  return typeof id === 'number' ? id : undefined
}

const NONE: unknown[] = []

const pick = (values: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, values[name]]))

/**
 * Returns the page size and a function that changes this size. A page size in the URL takes
 * precedence over the stored page size.
 */
function usePageSizeFromUrl(
  [remembered, remember]: ReturnType<typeof usePageSize>,
  listQuery: PageSize | 0 | undefined,
  setAddress: SetUrlState<UrlSchema>,
): ReturnType<typeof usePageSize> {
  if (listQuery === undefined || listQuery === 0) return [remembered, remember]
  const select = (size: PageSize): void => {
    remember(size)
    setAddress({ page_size: size })
  }
  return [listQuery, select]
}
