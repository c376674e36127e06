import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { ListPage } from '#console/api/request.ts'

export const cachedRows = <Row>(client: QueryClient, queryKey: QueryKey): Row[] =>
  client.getQueriesData<ListPage<Row>>({ queryKey }).flatMap(([, page]) => page?.items ?? [])

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
