import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '../icons.tsx'
import { dismissHints } from '../toast.ts'
import type { Column, Sort } from './column.ts'
import { ColumnResizer } from './column-resizer.tsx'
import type { DataGridProps } from './grid-props.ts'
import { allToggled } from './selection.ts'

/** Column headers: sorting, widths, and the box that selects every loaded row. */
export function GridHeader<Row>(props: { grid: DataGridProps<Row> }): ReactElement {
  const { t } = useTranslation()
  const { layout, selection, rows, rowKey, expand } = props.grid
  // Looks at every row only when so many are selected that all of them might be.
  const mayBeAll = rows.length > 0 && (selection?.keys.size ?? 0) >= rows.length
  const areAllOn = mayBeAll && rows.every((row) => selection?.keys.has(rowKey(row)) === true)
  return (
    <div role="rowgroup" className="tg-grid-head">
      <div role="row" className="tg-grid-row" aria-rowindex={1} tabIndex={-1}>
        {selection !== undefined && (
          <div role="columnheader" className="tg-grid-cell tg-grid-tool" tabIndex={-1}>
            <input
              type="checkbox"
              className="tg-check"
              aria-label={t('ui.selectAll')}
              checked={areAllOn}
              onChange={() => {
                dismissHints()
                selection.onChange(allToggled(selection.keys, rows.map(rowKey)))
              }}
            />
          </div>
        )}
        {expand !== undefined && (
          <div role="columnheader" className="tg-grid-cell tg-grid-tool" tabIndex={-1}>
            <span className="tg-visually-hidden">{t('ui.expandRow')}</span>
          </div>
        )}
        {layout.shown.map((column) => (
          <HeaderCell key={column.id} column={column} grid={props.grid} />
        ))}
      </div>
    </div>
  )
}

function HeaderCell<Row>(props: { column: Column<Row>; grid: DataGridProps<Row> }): ReactElement {
  const { column, grid } = props
  const sort = grid.sort?.column === column.id ? grid.sort : null
  const canSort = column.isSortable === true && grid.onSort !== undefined
  return (
    <div
      role="columnheader"
      className={column.align === 'end' ? 'tg-grid-cell tg-grid-end' : 'tg-grid-cell'}
      aria-sort={sort === null ? undefined : sort.isDescending ? 'descending' : 'ascending'}
      tabIndex={-1}
    >
      {canSort ? (
        <button
          type="button"
          className="tg-grid-sort"
          onClick={() => grid.onSort?.(nextSort(column.id, sort))}
        >
          {column.title}
          {sort !== null && <Icon name={sort.isDescending ? 'arrowDown' : 'arrowUp'} size={12} />}
        </button>
      ) : (
        <span className="tg-grid-title">{column.title}</span>
      )}
      <ColumnResizer
        title={column.title}
        width={grid.layout.widthOf(column)}
        onWidth={(width) => grid.layout.setWidth(column.id, width)}
      />
    </div>
  )
}

function nextSort(column: string, sort: Sort | null): Sort {
  return { column, isDescending: sort === null ? true : !sort.isDescending }
}
