import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactElement, ReactNode } from 'react'
import { Button } from './button.tsx'
import { ColumnChooser } from './column-chooser.tsx'
import { DataGrid } from './data-grid/data-grid.tsx'
import type { DataGridProps } from './data-grid/grid-props.ts'
import { ErrorState } from './empty-state.tsx'
import { Pagination, type Paging } from './pagination.tsx'
import { Panel } from './panel.tsx'
import { Toolbar } from './toolbar.tsx'

type Given = 'total' | 'firstIndex' | 'isLoading' | 'isRefetching'

type ListPanelProps<Row> = Omit<DataGridProps<Row>, Given> & {
  /** The query that the rows are of. */
  list: Pick<UseQueryResult, 'data' | 'error' | 'isPending' | 'isPlaceholderData' | 'refetch'>
  paging: Paging
  /** The name of the toolbar, and what is in it. */
  filtersLabel: string
  filters: ReactNode
  refreshText: string
  onRefresh: () => void
  /** At the toolbar's end, after the columns. */
  tools?: ReactNode
  /** Under the rows, which then keep their place: what can be done with those that are chosen. */
  chosen?: ReactNode
  /** The last column keeps in sight as the others scroll: the one that acts on the row. */
  isEnded?: boolean
}

/** A list, page by page: its filters, its rows or why there are none, and where one is in it. */
export function ListPanel<Row>(props: ListPanelProps<Row>): ReactElement {
  const { list, paging, filtersLabel, filters, refreshText, onRefresh, ...rest } = props
  const { tools, chosen, isEnded, ...grid } = rest
  return (
    <Panel isFlush>
      <Toolbar
        label={filtersLabel}
        end={
          <>
            <Button icon="refresh" label={refreshText} onClick={onRefresh} />
            <ColumnChooser layout={props.layout} />
            {tools}
          </>
        }
      >
        {filters}
      </Toolbar>
      {list.error !== null && list.data === undefined ? (
        <ErrorState error={list.error} onRetry={onRefresh} />
      ) : (
        <div className={isEnded === true ? 'tg-list-ended' : undefined}>
          <DataGrid
            {...grid}
            total={paging.total}
            firstIndex={paging.page * paging.pageSize}
            isLoading={list.isPending}
            isRefetching={list.isPlaceholderData}
          />
        </div>
      )}
      {chosen}
      <Pagination {...paging} />
    </Panel>
  )
}
