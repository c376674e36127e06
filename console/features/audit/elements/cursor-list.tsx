import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useRegisterActions } from '#console/ui/actions/action-registry.ts'
import type { Column } from '#console/ui/data-grid/column-and-layout.ts'
import { DataGrid } from '#console/ui/data-grid/data-grid.tsx'
import type { DataGridProps } from '#console/ui/data-grid/grid-props-and-row-heights.ts'
import { useColumnLayout } from '#console/ui/data-grid/use-column-layout.ts'
import { ActionButton, Button } from '#console/ui/elements/button.tsx'
import { ErrorState } from '#console/ui/layout/error-state.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { ColumnChooser } from '#console/ui/lists/column-chooser.tsx'
import { Toolbar } from '#console/ui/lists/toolbar.tsx'
import '#console/ui/forms/forms.css'

type CursorPage<Row> = {
  readonly items: readonly Row[]
  readonly next_cursor: string | number | null
}

type Props<Row> = Pick<
  DataGridProps<Row>,
  'label' | 'rowKey' | 'empty' | 'expand' | 'onOpen' | 'isMuted' | 'openKey' | 'isFresh'
> & {
  query: UseInfiniteQueryResult<InfiniteData<CursorPage<Row>>>
  /** Returns the rows of the query together with the rows that live events have delivered. */
  withLive?: (rows: readonly Row[]) => readonly Row[]
  layoutKey: string
  columns: readonly Column<Row>[]
  filters: ReactNode
  tools?: ReactNode
  moreText: string
}

/**
 * Reads a list whose pages have no numbers. Each page names the cursor of the next page, and the
 * cursor of the first page is an empty text.
 */
export const cursorQuery = <Page extends CursorPage<unknown>>(
  queryKey: readonly unknown[],
  fetchPage: (cursor: string, signal: AbortSignal) => Promise<Page>,
) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    getNextPageParam: ({ next_cursor: cursor }: Page) => (cursor === null ? null : String(cursor)),
    placeholderData: keepPreviousData,
  })

/** A list without numbered pages. A button loads the next rows and adds them at the end. */
export function CursorList<Row>(props: Props<Row>) {
  const { query, withLive, layoutKey, columns, filters, tools, moreText, ...grid } = props
  const { t } = useTranslation()
  const layout = useColumnLayout(layoutKey, columns)
  const refresh = {
    id: 'refresh',
    title: t('ui.refresh'),
    keys: 'r',
    icon: 'refresh',
    perform: () => void query.refetch(),
  } as const
  useRegisterActions([refresh])
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? []
  return (
    <Panel isFlush>
      <Toolbar
        label={t('ui.filters')}
        end={
          <>
            <ActionButton action={refresh} />
            <ColumnChooser layout={layout} density="compact" />
            {tools}
          </>
        }
      >
        {filters}
      </Toolbar>
      {query.error !== null && query.data === undefined ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <DataGrid
          density="compact"
          {...grid}
          rows={withLive === undefined ? rows : withLive(rows)}
          layout={layout}
          isLoading={query.isPending}
          isRefetching={query.isPlaceholderData}
        />
      )}
      {query.hasNextPage && (
        <div className="tg-audit-more">
          <Button isBusy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {moreText}
          </Button>
        </div>
      )}
    </Panel>
  )
}
