import { memo, type ReactNode, useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '../elements/icons.tsx'
import type { AmountAlignment } from '../quota/amount-alignment.ts'
import { AlignedColumn } from '../quota/amount-text.tsx'
import { useStableCallbacks } from '../state/use-stable-callbacks.ts'
import type { Column } from './column-and-layout.ts'
import type { DataGridProps } from './grid-props-and-row-heights.ts'
import type { Grid } from './use-grid.ts'
import { isOnControl } from './use-grid-keys.ts'

type RowProps<Row> = {
  props: DataGridProps<Row>
  grid: Grid<Row>
  actions: RowHandlers
  measure: (element: Element) => void
  /** Returns how the amounts of a column are aligned. */
  alignmentOf: (column: string) => AmountAlignment
  row: Row
  index: number
}

export function GridRow<Row>(rowProps: RowProps<Row>) {
  const { props, grid, actions, row, index } = rowProps
  const isExpanded = props.expand !== undefined && grid.isExpanded(row)
  const branch = props.branch?.(row)
  const canPress = props.onOpen !== undefined || props.expand !== undefined
  return (
    <MemoizedRow
      id={`${grid.id}-row-${index}`}
      index={index}
      row={row}
      columns={props.layout.visible as readonly Column<unknown>[]}
      className={rowClass(props, row, canPress, grid.active === index)}
      rowIndex={(props.firstIndex ?? 0) + index + 2}
      level={branch?.level}
      isOpen={branch?.isOpen}
      isSelected={props.selection?.keys.has(props.rowKey(row))}
      isExpanded={props.expand === undefined ? undefined : isExpanded}
      details={isExpanded ? props.expand?.(row) : undefined}
      actions={actions}
      measure={rowProps.measure}
      alignmentOf={rowProps.alignmentOf}
    />
  )
}

type MemoizedRowProps = {
  id: string
  index: number
  row: unknown
  columns: readonly Column<unknown>[]
  className: string
  rowIndex: number
  level: number | undefined
  isOpen: boolean | undefined
  /** Whether the row is selected. Undefined if rows can't be selected. */
  isSelected: boolean | undefined
  /** Whether the details of the row are visible. Undefined if rows have no details. */
  isExpanded: boolean | undefined
  details: ReactNode
  actions: RowHandlers
  measure: (element: Element) => void
  alignmentOf: (column: string) => AmountAlignment
}

/**
 * Renders one row. The component is memoized, because the list is rendered on every frame while it
 * scrolls.
 */
const MemoizedRow = memo(function DrawnRow(props: MemoizedRowProps) {
  const { index, row, columns, isSelected, isExpanded, actions, measure } = props
  const element = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cells are rendered from these
  useEffect(() => {
    if (element.current !== null) measure(element.current)
  }, [measure, row, columns])
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the focus and handles keys */}
      <div
        ref={element}
        role="row"
        id={props.id}
        className={props.className}
        aria-rowindex={props.rowIndex}
        aria-level={props.level}
        aria-expanded={props.isOpen}
        aria-selected={isSelected}
        tabIndex={-1}
        onClick={(event) => actions.press(index, event.target)}
      >
        {isSelected !== undefined && (
          <SelectCell
            isSelected={isSelected}
            onSelect={(isRange) => actions.select(index, isRange)}
          />
        )}
        {isExpanded !== undefined && (
          <ExpandCell isExpanded={isExpanded} onToggle={() => actions.toggle(index)} />
        )}
        {columns.map((column) => (
          <div
            key={column.id}
            role="gridcell"
            data-column={column.id}
            className={column.align === 'end' ? 'tg-grid-cell tg-grid-end' : 'tg-grid-cell'}
            tabIndex={-1}
          >
            <AlignedColumn alignment={props.alignmentOf(column.id)}>
              <CellContent cell={column.cell} row={row} />
            </AlignedColumn>
          </div>
        ))}
      </div>
      {isExpanded === true && (
        <div role="row" tabIndex={-1}>
          <div role="gridcell" className="tg-grid-details" tabIndex={-1}>
            {props.details}
          </div>
        </div>
      )}
    </>
  )
})

type AnyCell = (row: unknown) => ReactNode

const CellContent = memo(function CellContent(props: { cell: AnyCell; row: unknown }) {
  return props.cell(props.row)
})

function SelectCell(props: { isSelected: boolean; onSelect: (isRange: boolean) => void }) {
  const { t } = useTranslation()
  return (
    <div role="gridcell" className="tg-grid-cell tg-grid-tool" tabIndex={-1}>
      <input
        type="checkbox"
        className="tg-check"
        aria-label={t('ui.selectRow')}
        checked={props.isSelected}
        onChange={(event) =>
          props.onSelect((event.nativeEvent as unknown as { shiftKey?: boolean }).shiftKey === true)
        }
      />
    </div>
  )
}

function ExpandCell(props: { isExpanded: boolean; onToggle: () => void }) {
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

type RowHandlers = ReturnType<typeof useRowHandlers>

/**
 * Returns the handlers of the rows. The functions stay the same, so that memoized rows are not
 * rendered again.
 */
export const useRowHandlers = <Row,>(props: DataGridProps<Row>, grid: Grid<Row>) =>
  useStableCallbacks({
    press: (index: number, target: EventTarget) => {
      if (isOnControl(target) || window.getSelection()?.isCollapsed === false) return
      if (props.onOpen !== undefined || props.expand !== undefined) grid.open(index)
      else grid.activate(index)
    },
    select: grid.select,
    toggle: grid.toggleExpanded,
  })
