import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '../elements/icons.tsx'
import { Tooltip } from '../elements/tooltip.tsx'
import { dismissLocalErrors } from '../messages/toast.ts'
import { type Column, type Sort, WIDTH_MAX, WIDTH_MIN } from './column-and-layout.ts'
import type { DataGridProps } from './grid-props-and-row-heights.ts'
import { allToggled } from './use-grid.ts'

const STEP_PX = 16

/** A handle that changes the width of a column. The user drags the handle or presses arrow keys. */
function ColumnResizer(props: { title: string; width: number; onWidth: (width: number) => void }) {
  const { t } = useTranslation()
  const start = useRef<{ x: number; width: number } | null>(null)
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    start.current = { x: event.clientX, width: renderedWidth(event.currentTarget) ?? props.width }
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    if (start.current === null) return
    props.onWidth(start.current.width + event.clientX - start.current.x)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const width = renderedWidth(event.currentTarget) ?? props.width
    const next = {
      ArrowLeft: width - STEP_PX,
      ArrowRight: width + STEP_PX,
      Home: WIDTH_MIN,
      End: WIDTH_MAX,
    }[event.key]
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    props.onWidth(next)
  }
  return (
    <span
      className="tg-grid-resizer"
      role="separator"
      aria-orientation="vertical"
      aria-label={t('ui.resize', { name: props.title })}
      aria-valuenow={props.width}
      aria-valuemin={WIDTH_MIN}
      aria-valuemax={WIDTH_MAX}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        start.current = null
      }}
      onKeyDown={onKeyDown}
    />
  )
}

/**
 * Returns the width of a column on the screen (px). This width can exceed the stored width, because
 * some columns grow to fill the list.
 */
const renderedWidth = (handle: HTMLElement): number | undefined =>
  handle.parentElement?.getBoundingClientRect().width

export function GridHeader<Row>(props: { grid: DataGridProps<Row> }) {
  const { t } = useTranslation()
  const { layout, selection, rows, rowKey, expand } = props.grid
  // Checking each row is slow. The check is needed only if at least as many rows are selected as
  // are listed.
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
                dismissLocalErrors()
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
        {layout.visible.map((column) => (
          <HeaderCell key={column.id} column={column} grid={props.grid} />
        ))}
      </div>
    </div>
  )
}

function HeaderCell<Row>(props: { column: Column<Row>; grid: DataGridProps<Row> }) {
  const { column, grid } = props
  const sort = grid.sort?.column === column.id ? grid.sort : null
  const canSort = column.isSortable === true && grid.onSort !== undefined
  return (
    <div
      role="columnheader"
      className={column.align === 'end' ? 'tg-grid-cell tg-grid-end' : 'tg-grid-cell'}
      aria-sort={ariaSortOf(sort)}
      tabIndex={-1}
    >
      {canSort ? (
        <SortButton
          column={column.id}
          title={column.heading ?? column.title}
          sort={sort}
          onSort={(next) => grid.onSort?.(next)}
        />
      ) : (
        <span className="tg-grid-title">{column.heading ?? column.title}</span>
      )}
      {column.heading !== undefined && (
        <Tooltip content={column.title}>
          <button type="button" className="tg-grid-hint" aria-label={column.title}>
            <Icon name="info" size={14} />
          </button>
        </Tooltip>
      )}
      <ColumnResizer
        title={column.title}
        width={grid.layout.widthOf(column)}
        onWidth={(width) => grid.layout.setWidth(column.id, width)}
      />
    </div>
  )
}

export const ariaSortOf = (sort: Sort | null) => {
  if (sort === null) return undefined
  return sort.isDescending ? 'descending' : 'ascending'
}

/**
 * The button in a column's header, which sorts the list by this column. `sort` is null if the list
 * is sorted by another column.
 */
export function SortButton(props: {
  column: string
  title: string
  sort: Sort | null
  onSort: (sort: Sort) => void
}) {
  const { column, title, sort, onSort } = props
  return (
    <button type="button" className="tg-grid-sort" onClick={() => onSort(nextSort(column, sort))}>
      {title}
      {sort !== null && <Icon name={sort.isDescending ? 'arrowDown' : 'arrowUp'} size={12} />}
    </button>
  )
}

function nextSort(column: string, sort: Sort | null): Sort {
  return { column, isDescending: sort === null ? true : !sort.isDescending }
}
