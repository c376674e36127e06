import type { MouseEvent, ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '../icons.tsx'
import { isOnControl } from './grid-keys.ts'
import type { DataGridProps } from './grid-props.ts'
import type { Grid } from './use-grid.ts'

type RowProps<Row> = { props: DataGridProps<Row>; grid: Grid<Row>; row: Row; index: number }

/** One row of the table, with its details when expanded. */
export function GridRow<Row>({ props, grid, row, index }: RowProps<Row>): ReactElement {
  const isExpanded = props.expand !== undefined && grid.isExpanded(row)
  const isSelected = props.selection?.keys.has(props.rowKey(row)) === true
  const canPress = props.onOpen !== undefined || props.expand !== undefined
  const press = (event: MouseEvent) => {
    if (isOnControl(event.target) || window.getSelection()?.isCollapsed === false) return
    if (canPress) grid.open(index)
    else grid.activate(index)
  }
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: keys are the grid's, which has the focus */}
      <div
        role="row"
        id={`${grid.id}-row-${index}`}
        className={rowClass(props, row, canPress, grid.active === index)}
        aria-rowindex={(props.firstIndex ?? 0) + index + 2}
        aria-selected={props.selection === undefined ? undefined : isSelected}
        tabIndex={-1}
        onClick={press}
      >
        <SelectCell props={props} grid={grid} row={row} index={index} />
        {props.expand !== undefined && (
          <ExpandCell isExpanded={isExpanded} onToggle={() => grid.toggleExpanded(index)} />
        )}
        {props.layout.shown.map((column) => (
          <div
            key={column.id}
            role="gridcell"
            className={column.align === 'end' ? 'tg-grid-cell tg-grid-end' : 'tg-grid-cell'}
            tabIndex={-1}
          >
            {column.cell(row)}
          </div>
        ))}
      </div>
      {isExpanded && (
        <div role="row" tabIndex={-1}>
          <div role="gridcell" className="tg-grid-details" tabIndex={-1}>
            {props.expand?.(row)}
          </div>
        </div>
      )}
    </>
  )
}

function SelectCell<Row>({ props, grid, row, index }: RowProps<Row>): ReactElement | null {
  const { t } = useTranslation()
  if (props.selection === undefined) return null
  return (
    <div role="gridcell" className="tg-grid-cell tg-grid-tool" tabIndex={-1}>
      <input
        type="checkbox"
        className="tg-check"
        aria-label={t('ui.selectRow')}
        checked={props.selection.keys.has(props.rowKey(row))}
        onChange={(event) =>
          grid.select(
            index,
            (event.nativeEvent as unknown as { shiftKey?: boolean }).shiftKey === true,
          )
        }
      />
    </div>
  )
}

function ExpandCell(props: { isExpanded: boolean; onToggle: () => void }): ReactElement {
  const { t } = useTranslation()
  return (
    <div role="gridcell" className="tg-grid-cell tg-grid-tool" tabIndex={-1}>
      <button
        type="button"
        className="tg-grid-expander"
        tabIndex={-1}
        aria-expanded={props.isExpanded}
        aria-label={props.isExpanded ? t('ui.collapseRow') : t('ui.expandRow')}
        onClick={props.onToggle}
      >
        <Icon name="chevronRight" size={14} />
      </button>
    </div>
  )
}

function rowClass<Row>(
  props: DataGridProps<Row>,
  row: Row,
  canPress: boolean,
  isActive: boolean,
): string {
  const classes = ['tg-grid-row']
  if (canPress) classes.push('tg-grid-row-press')
  if (isActive) classes.push('tg-grid-row-active')
  if (props.isMuted?.(row) === true) classes.push('tg-grid-row-muted')
  if (props.isFresh?.(row) === true) classes.push('tg-grid-row-fresh')
  return classes.join(' ')
}
