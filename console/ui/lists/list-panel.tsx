import { type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { type Action, useRegisterActions } from '../actions/action-registry.ts'
import type { Column } from '../data-grid/column-and-layout.ts'
import { DataGrid } from '../data-grid/data-grid.tsx'
import type { DataGridProps } from '../data-grid/grid-props-and-row-heights.ts'
import { useColumnLayout } from '../data-grid/use-column-layout.ts'
import { ActionButton, Button, CreateButton } from '../elements/button.tsx'
import type { IconName } from '../elements/icons.tsx'
import { SearchInput } from '../forms/search-input.tsx'
import { EmptyState } from '../layout/empty-state.tsx'
import { ErrorState } from '../layout/error-state.tsx'
import { Panel } from '../layout/panel.tsx'
import { ClearFiltersButton } from './clear-filters-button.tsx'
import { ColumnChooser } from './column-chooser.tsx'
import { isBeyondLastPage, Pagination, type Paging } from './pagination.tsx'
import { Toolbar } from './toolbar.tsx'
import type { ListView } from './use-list-page.ts'

type OwnProps = 'rows' | 'layout' | 'total' | 'firstIndex' | 'isLoading' | 'isRefetching'

type ListPanelProps<Row> = Omit<DataGridProps<Row>, OwnProps> & {
  view: ListView<Row>
  layoutKey: string
  columns: readonly Column<Row>[]
  filters: ReactNode
  isClearable?: boolean
  /**
   * The action that creates a row. It is in the command palette, and an empty list shows it as a
   * button.
   */
  create?: { text: string; perform: () => void }
  none?: { icon: IconName; title: string; body: string }
  notFound?: { title: string; body: string }
  /**
   * Controls in the toolbar. `modes` are before the button that refreshes the list, and `tools`
   * after it.
   */
  modes?: ReactNode
  tools?: ReactNode
  notice?: ReactNode
  /**
   * The bar with the actions for selected rows. It is below the rows, so that the rows do not move
   * when the bar appears.
   */
  selectionBar?: ReactNode
  /** True if the last column (the actions) stays visible when the list is scrolled sideways. */
  isLastColumnSticky?: boolean
}

export function ListPanel<Row>(props: ListPanelProps<Row>) {
  const { view, layoutKey, columns, filters, isClearable, create, none, notFound, ...rest } = props
  const { modes, tools, notice, selectionBar, isLastColumnSticky, ...grid } = rest
  const { list, paging, sorts } = view
  const { t } = useTranslation()
  const sortable = useMemo(
    () => columns.map((column) => ({ isSortable: Object.hasOwn(sorts, column.id), ...column })),
    [columns, sorts],
  )
  const layout = useColumnLayout(layoutKey, sortable)
  const refresh = useListActions(props)
  const clear = <ClearFiltersButton onClear={view.clear} />
  return (
    <Panel isFlush>
      <Toolbar
        label={t('ui.filters')}
        end={
          <>
            {modes}
            <ActionButton action={refresh} />
            <ColumnChooser layout={layout} />
            {tools}
          </>
        }
      >
        {filters}
        {isClearable === true && view.isFiltered && clear}
      </Toolbar>
      {notice}
      {list.error !== null && list.data === undefined ? (
        <ErrorState error={list.error} onRetry={view.refresh} />
      ) : (
        <div className={isLastColumnSticky === true ? 'tg-list-ended' : undefined}>
          <DataGrid
            sort={view.sort}
            onSort={view.setSort}
            rows={view.rows}
            empty={<NoRows {...props} />}
            {...grid}
            layout={layout}
            {...(grid.branch === undefined ? placeOf(paging) : {})}
            isLoading={list.isPending || isMovingToLastPage(view)}
            isRefetching={list.isPlaceholderData}
          />
        </div>
      )}
      {selectionBar}
      <Pagination {...paging} />
    </Panel>
  )
}

/**
 * Reports whether the current page no longer exists and the last page is being loaded instead.
 * During this time, the list must not say that there are no rows.
 */
function isMovingToLastPage({ list, rows, paging }: ListView<unknown>): boolean {
  if (rows.length > 0 || paging.total === 0 || paging.isCapped === true) return false
  return list.isPlaceholderData || isBeyondLastPage(paging)
}

/**
 * Returns the number of all rows and the index of this page's first row, for screen readers. Trees
 * do not use these numbers.
 */
const placeOf = ({ total, page, pageSize }: Paging) => ({ total, firstIndex: page * pageSize })

/** A search field whose text is written to the URL while the user types. */
export function KeywordFilter(props: {
  label: string
  view: {
    readonly filter: { readonly keyword: string }
    readonly setFilter: (patch: { keyword: string }, how: { isTyping: boolean }) => void
  }
}) {
  const { filter, setFilter } = props.view
  return (
    <SearchInput
      label={props.label}
      value={filter.keyword}
      onChange={(keyword) => setFilter({ keyword }, { isTyping: true })}
    />
  )
}

type EmptyProps = Pick<ListPanelProps<never>, 'none' | 'notFound' | 'create'> & {
  view: Pick<ListView<never>, 'isFiltered' | 'clear'>
}

function NoRows({ view, none, notFound, create }: EmptyProps) {
  const { t } = useTranslation()
  if (none === undefined || (notFound !== undefined && view.isFiltered)) {
    const clear = <Button onClick={view.clear}>{t('ui.clearFilters')}</Button>
    return <EmptyState icon="search" title={t('ui.noRows')} {...notFound} action={clear} />
  }
  const add = create !== undefined && <CreateButton text={create.text} onClick={create.perform} />
  return <EmptyState {...none} action={add === false ? undefined : add} />
}

function useListActions<Row>({ view, create }: ListPanelProps<Row>): Action {
  const { t } = useTranslation()
  const add = { id: 'create', icon: 'add' } as const
  const refresh = { id: 'refresh', title: t('ui.refresh'), keys: 'r', icon: 'refresh' } as const
  const refreshAction = { ...refresh, perform: view.refresh }
  useRegisterActions([
    ...(create === undefined ? [] : [{ ...add, title: create.text, perform: create.perform }]),
    refreshAction,
  ])
  return refreshAction
}

/** Returns the key of a row that has an id. */
export const rowId = ({ id }: { readonly id: number }): string => String(id)
