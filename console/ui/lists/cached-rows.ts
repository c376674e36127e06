import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { ListPage } from '#console/api/request.ts'

/** Returns the rows of all cached pages of a list. */
export const cachedRows = <Row>(client: QueryClient, queryKey: QueryKey): Row[] =>
  client.getQueriesData<ListPage<Row>>({ queryKey }).flatMap(([, page]) => page?.items ?? [])

/** Changes the rows of all cached pages of a list. */
export function changeRows<Row>(
  client: QueryClient,
  queryKey: QueryKey,
  change: (row: Row) => Row,
): void {
  client.setQueriesData<ListPage<Row>>(
    { queryKey },
    (page) => page && { ...page, items: page.items.map(change) },
  )
}
