import { type CSSProperties, useLayoutEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '../layout/empty-state.tsx'
import { useDelayed } from '../layout/skeleton.tsx'
import { useAmountAlignments } from '../quota/amount-text.tsx'
import { useIsNarrow } from '../state/use-media-query.ts'
import { GridCard } from './grid-cards.tsx'
import { GridHeader } from './grid-header.tsx'
import {
  type DataGridProps,
  HEADER_HEIGHT,
  ROW_HEIGHT,
  useDensity,
} from './grid-props-and-row-heights.ts'
import { GridRow, useRowHandlers } from './grid-row.tsx'
import { useFitColumnsToAmounts } from './use-fit-columns-to-amounts.ts'
import { type Grid, useGrid } from './use-grid.ts'
import { useGridCommands, useGridKeys } from './use-grid-keys.ts'
import { useGridHandle } from './use-scroll-state-and-handle.ts'
import type { PositionOnPage } from './use-window-scrolling.ts'
import './data-grid.css'
import './window-scrolling.css'
import './scroll-bar.css'

/**
 * The minimum height (px) of a list that is fitted into the window. If less space is left, the list
 * is not fitted.
 */
const ROOM_MIN_PX = 240
const GAP_PX = 12

/**
 * Limits the height of the list, so that the list and the page buttons below it fit into the
 * window. If too little space is left, the list keeps its default height.
 */
function useFitHeight(box: HTMLElement | null): void {
  useLayoutEffect(() => {
    if (box === null) return
    const resize = (): void => {
      const availableHeight = roomFor(box)
      if (availableHeight < ROOM_MIN_PX) box.style.removeProperty('--tg-grid-room')
      else box.style.setProperty('--tg-grid-room', `${availableHeight}px`)
    }
    resize()
    // The height is measured again when an element above the list changes its height.
    const observer = new ResizeObserver(resize)
    observer.observe(box.closest('.tg-page') ?? document.body)
    window.addEventListener('resize', resize)
    return () => {
      observer.disconnect()
      window.removeEventListener('resize', resize)
    }
  }, [box])
}

function roomFor(box: HTMLElement): number {
  const { top, bottom } = box.getBoundingClientRect()
  const panel = box.closest('.tg-panel')?.getBoundingClientRect().bottom ?? bottom
  return Math.floor(window.innerHeight - (top + window.scrollY) - (panel - bottom) - GAP_PX)
}

const SKELETON_ROWS = 8

/**
 * A list of rows: a table with columns or, in a narrow window, cards. Only the rows near the
 * visible part are rendered. Rows that are added at the top do not move the rows that the user is
 * reading.
 */
export function DataGrid<Row>(props: DataGridProps<Row>) {
  const isCards = useIsNarrow()
  const grid = useGrid(props, isCards)
  useGridHandle(props, grid)
  if (props.rows.length === 0 && props.isLoading !== true) {
    return <NoRows empty={props.empty} />
  }
  return isCards ? <CardList props={props} grid={grid} /> : <Table props={props} grid={grid} />
}

type GridPartProps<Row> = { props: DataGridProps<Row>; grid: Grid<Row> }

function Table<Row>({ props: tableProps, grid }: GridPartProps<Row>) {
  const [density] = useDensity(tableProps.density)
  const { layout, measure } = useFitColumnsToAmounts(tableProps.layout, grid.box)
  const props = { ...tableProps, layout }
  const onKeyDown = useGridKeys(props, grid)
  useGridCommands(props, grid)
  useFitHeight(grid.box)
  const actions = useRowHandlers(props, grid)
  const alignmentOf = useAmountAlignments(true)
  const sharedProps = { props, grid, actions, measure, alignmentOf }
  const items = grid.virtualizer.getVirtualItems()
  const isActiveDrawn = items.some((item) => item.index === grid.active)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: both of its roles are interactive
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both of its roles support it
    <div
      ref={grid.attach}
      role={props.branch === undefined ? 'grid' : 'treegrid'}
      className={tableClass(props, density, grid)}
      aria-label={props.label}
      aria-rowcount={(props.total ?? props.rows.length) + 1}
      aria-busy={props.isLoading === true || props.isRefetching === true}
      aria-multiselectable={props.selection === undefined ? undefined : true}
      aria-activedescendant={isActiveDrawn ? `${grid.id}-row-${grid.active}` : undefined}
      tabIndex={0}
      style={tableStyle(props, grid, ROW_HEIGHT[density])}
      onKeyDown={onKeyDown}
    >
      <GridHeader grid={props} />
      {props.rows.length === 0 ? (
        <SkeletonRows columns={props.layout.visible.length} />
      ) : (
        <div
          role="rowgroup"
          className="tg-grid-body"
          style={{ height: grid.virtualizer.getTotalSize() }}
        >
          {items.map((item) => {
            const row = props.rows[item.index]
            return row === undefined ? null : (
              <div
                key={item.key}
                ref={grid.virtualizer.measureElement}
                data-index={item.index}
                className="tg-grid-item"
                style={{ transform: `translateY(${item.start - grid.margin}px)` }}
              >
                <GridRow {...sharedProps} row={row} index={item.index} />
              </div>
            )
          })}
        </div>
      )}
    </div>
  )
}

function CardList<Row>({ props, grid }: GridPartProps<Row>) {
  return (
    <section
      ref={grid.attach}
      className={cardsClass(props, grid)}
      aria-label={props.label}
      aria-busy={props.isLoading === true || props.isRefetching === true}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas need keyboard access
      tabIndex={0}
      style={props.maxHeight === undefined ? {} : { maxHeight: props.maxHeight }}
    >
      {props.rows.length === 0 && <SkeletonRows columns={2} />}
      <ul className="tg-grid-body" style={{ height: grid.virtualizer.getTotalSize() }}>
        {grid.virtualizer.getVirtualItems().map((item) => {
          const row = props.rows[item.index]
          return row === undefined ? null : (
            <li
              key={item.key}
              ref={grid.virtualizer.measureElement}
              data-index={item.index}
              className="tg-grid-item"
              aria-setsize={props.total ?? props.rows.length}
              aria-posinset={(props.firstIndex ?? 0) + item.index + 1}
              style={{ transform: `translateY(${item.start - grid.margin}px)` }}
            >
              <GridCard props={props} grid={grid} row={row} index={item.index} />
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function SkeletonRows(props: { columns: number }) {
  const isShown = useDelayed(true)
  return (
    <div
      className={isShown ? 'tg-grid-skeleton tg-skeleton-shown' : 'tg-grid-skeleton'}
      aria-hidden
    >
      {Array.from({ length: SKELETON_ROWS }, (_, row) => row).map((row) => (
        <div key={row} className="tg-grid-skeleton-row">
          {Array.from({ length: Math.min(props.columns, 8) }, (_, cell) => cell).map((cell) => (
            <span key={cell} style={{ width: `${40 + ((row * 7 + cell * 13) % 40)}%` }} />
          ))}
        </div>
      ))}
    </div>
  )
}

function NoRows(props: { empty: DataGridProps<never>['empty'] }) {
  const { t } = useTranslation()
  return <>{props.empty ?? <EmptyState title={t('ui.noRows')} />}</>
}

function cardsClass<Row>(props: DataGridProps<Row>, grid: Grid<Row>): string {
  const classes = ['tg-cards']
  if (props.isRefetching === true) classes.push('tg-grid-stale')
  if (grid.page !== null) classes.push('tg-grid-open')
  return classes.join(' ')
}

function tableClass<Row>(props: DataGridProps<Row>, density: string, grid: Grid<Row>): string {
  const classes = ['tg-grid', `tg-grid-${density}`]
  if (props.isRefetching === true) classes.push('tg-grid-stale')
  if (props.isFirstSticky === true) classes.push('tg-grid-sticky')
  if (grid.page !== null) classes.push('tg-grid-open')
  return classes.join(' ')
}

function tableStyle<Row>(
  props: DataGridProps<Row>,
  grid: Grid<Row>,
  rowHeight: number,
): CSSProperties {
  const { layout } = props
  const tracks = layout.visible.map((column) => {
    const width = `${layout.widthOf(column)}px`
    return column.isGrowing === true && !layout.isResized(column) ? `minmax(${width}, 1fr)` : width
  })
  const tools = [
    ...(props.selection === undefined ? [] : ['40px']),
    ...(props.expand === undefined ? [] : ['36px']),
  ]
  const filler = layout.visible.some((column) => column.isGrowing === true)
    ? []
    : ['minmax(0, 1fr)']
  return {
    '--tg-columns': [...tools, ...tracks, ...filler].join(' '),
    '--tg-row': `${rowHeight}px`,
    '--tg-head': `${HEADER_HEIGHT}px`,
    ...(props.maxHeight === undefined ? {} : { maxHeight: props.maxHeight }),
    ...(grid.page === null
      ? {}
      : headerScrollVariables(grid.page, grid.virtualizer.getTotalSize())),
  } as CSSProperties
}

/**
 * Returns CSS variables for a list that scrolls vertically with the window, but has its own
 * horizontal scroll bar. The variables keep the header of the list visible: `--tg-head-from` is the
 * scroll offset of the window at which the header starts to move, and `--tg-head-way` is how far it
 * moves.
 */
const headerScrollVariables = ({ top, coveredHeight }: PositionOnPage, rowsHeight: number) => ({
  '--tg-head-from': `${Math.max(0, top - coveredHeight)}px`,
  '--tg-head-way': `${rowsHeight}px`,
})
