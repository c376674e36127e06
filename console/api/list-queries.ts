import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { fetchAllPages, type ListPage, type ListSort, MATCHING_MAX } from './request.ts'

/**
 * The filters and page of a list. `page` starts at 0, and an empty filter has no effect. The
 * default order is newest first.
 */
export type ListQuery = ListSort & {
  keyword: string
  page: number
  pageSize: number
  /** The status, as the text of its number. */
  status?: string
}

export function listQueries<Query extends ListQuery, Row extends { id: number }>(
  key: readonly string[],
  fetchPage: (query: Query, signal?: AbortSignal) => Promise<ListPage<Row>>,
) {
  const page = (query: Query) =>
    queryOptions({
      queryKey: [...key, query],
      queryFn: ({ signal }) => fetchPage(query, signal),
      placeholderData: keepPreviousData,
    })
  /**
   * Reads all rows that match the filters, for an action on all of them. If there are more than
   * `MATCHING_MAX`, reads the newest ones.
   */
  const matching = (filters: Omit<Query, 'page' | 'pageSize'>) =>
    queryOptions({
      queryKey: [...key, 'matching', filters],
      queryFn: ({ signal }) =>
        fetchAllPages((number, pageSize) => {
          const order = { sort: 'id', order: 'desc', page: number, pageSize }
          return fetchPage({ ...filters, ...order } as Query, signal)
        }, MATCHING_MAX),
    })
  return { page, matching }
}
