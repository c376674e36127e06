import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useId, useRef, useState } from 'react'
import { dismissLocalErrors } from '../messages/toast.ts'
import {
  CARD_HEIGHT,
  type DataGridProps,
  HEADER_HEIGHT,
  ROW_HEIGHT,
  useDensity,
} from './grid-props-and-row-heights.ts'
import {
  type PositionOnPage,
  scrollOptions,
  useKeepRowsInPlace,
  usePositionOnPage,
} from './use-window-scrolling.ts'

export type Grid<Row> = {
  readonly id: string
  readonly scroller: RefObject<HTMLDivElement | null>
  /** The element that contains the rows. Null while the list is empty. */
  readonly box: HTMLDivElement | null
  readonly attach: (box: HTMLDivElement | null) => void
  readonly virtualizer: Virtualizer<HTMLDivElement, Element>
  /**
   * The position of the list on the page while the list scrolls with the window. Null while the
   * list has its own scroll bar.
   */
  readonly page: PositionOnPage | null
  /**
   * The distance (px) from the top of the page to the first row if the list scrolls with the
   * window. Otherwise, the distance from the top of the list.
   */
  readonly margin: number
  /** The index of the row to which keys apply, or -1 if there is none. */
  readonly active: number
  readonly isExpanded: (row: Row) => boolean
  readonly activate: (index: number) => void
  readonly toggleExpanded: (index: number) => void
  readonly open: (index: number) => void
  readonly select: (index: number, isRange: boolean) => void
}

/**
 * The number of rows that are rendered above the visible rows. The same number is rendered below
 * them. Five rows are enough for three frames of fast scrolling.
 */
export const OVERSCAN = 5

/** Up to this scroll offset (px), the first row counts as visible. */
export const AT_TOP_PX = 4

export function useGrid<Row>(props: DataGridProps<Row>, isCards: boolean): Grid<Row> {
  const { rows, rowKey } = props
  const { scroller, box, attach } = useScroller()
  const lastPressed = useRef<number | null>(null)
  const [density] = useDensity(props.density)
  const [activeKey, setActiveKey] = useState<string | null>(null)
  const [expanded, setExpanded] = useExpanded(props.openKey)
  const keyAt = useKeyAt(props)
  // While details are shown, a list without a fixed height scrolls with the window.
  const canLeaveBox = props.maxHeight === undefined
  const page = usePositionOnPage(box, canLeaveBox && isAnyExpanded(rows, rowKey, expanded))
  const head = isCards ? 0 : HEADER_HEIGHT
  const margin = (page?.top ?? 0) + head
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    ...scrollOptions(page !== null, () => scroller.current),
    count: rows.length,
    estimateSize: () => (isCards ? CARD_HEIGHT : ROW_HEIGHT[density]),
    getItemKey: keyAt,
    overscan: isCards ? 3 : OVERSCAN,
    scrollMargin: margin,
    scrollPaddingStart: (page?.coveredHeight ?? 0) + head,
    initialRect: { width: 1024, height: 480 },
    // Rows that are added at the top must not move the rows that the user is reading.
    anchorTo: isReading(scroller.current, expanded) ? 'end' : 'start',
    // With 0, a list that fits into its height would move when a row expands.
    scrollEndThreshold: -1,
  })
  useKeepRowsInPlace(box, page !== null)
  const toggleExpanded = (index: number) => {
    const next = new Set(expanded)
    if (!next.delete(keyAt(index))) next.add(keyAt(index))
    setExpanded(next)
  }
  return {
    id: useId(),
    scroller,
    box,
    attach,
    virtualizer,
    page,
    margin,
    active: useActiveIndex(rows, rowKey, activeKey),
    isExpanded: (row) => expanded.has(rowKey(row)),
    activate: (index) => setActiveKey(keyAt(index)),
    toggleExpanded,
    open: (index) => {
      const row = rows[index]
      if (row === undefined) return
      setActiveKey(keyAt(index))
      if (props.onOpen !== undefined) props.onOpen(row)
      else if (props.expand !== undefined) toggleExpanded(index)
    },
    select: (index, isRange) => {
      selectRow(props, index, { isRange, anchor: lastPressed.current })
      lastPressed.current = index
    },
  }
}

function useKeyAt<Row>({ rows, rowKey }: DataGridProps<Row>) {
  return useCallback(
    (index: number) => {
      const row = rows[index]
      return row === undefined ? `absent-${index}` : rowKey(row)
    },
    [rows, rowKey],
  )
}

function selectRow<Row>(
  { rows, rowKey, selection }: DataGridProps<Row>,
  index: number,
  range: { readonly isRange: boolean; readonly anchor: number | null },
): void {
  if (selection === undefined) return
  dismissLocalErrors()
  selection.onChange(toggled(selection.keys, rows.map(rowKey), index, range))
}

function useExpanded(openKey: string | undefined) {
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set())
  const [opened, setOpened] = useState<string>()
  if (openKey !== opened) {
    setOpened(openKey)
    if (openKey !== undefined) setExpanded(new Set([openKey]))
  }
  return [expanded, setExpanded] as const
}

function isAnyExpanded<Row>(
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  expanded: ReadonlySet<string>,
): boolean {
  return expanded.size > 0 && rows.some((row) => expanded.has(rowKey(row)))
}

function useScroller() {
  const scroller = useRef<HTMLDivElement>(null)
  const [box, setBox] = useState<HTMLDivElement | null>(null)
  const attach = useCallback((element: HTMLDivElement | null) => {
    scroller.current = element
    setBox(element)
  }, [])
  return { scroller, box, attach }
}

function isReading(scroller: HTMLDivElement | null, expanded: ReadonlySet<string>): boolean {
  return expanded.size > 0 || (scroller?.scrollTop ?? 0) > AT_TOP_PX
}

/**
 * Returns the index of the active row, or -1. The previous index is checked first, because rows
 * rarely move.
 */
function useActiveIndex<Row>(
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  activeKey: string | null,
): number {
  const last = useRef(-1)
  const isActiveRow = (row: Row | undefined) => row !== undefined && rowKey(row) === activeKey
  if (activeKey === null) return -1
  if (!isActiveRow(rows[last.current])) last.current = rows.findIndex(isActiveRow)
  return last.current
}

/**
 * Returns the selection after a click on the row at `index`, which selects this row or, if it is
 * selected, deselects it. With `isRange` (the Shift key), all rows from `anchor` to this row are
 * set to the same state.
 */
function toggled(
  selected: ReadonlySet<string>,
  keys: readonly string[],
  index: number,
  range: { isRange: boolean; anchor: number | null },
): Set<string> {
  const next = new Set(selected)
  const key = keys[index]
  if (key === undefined) return next
  const isOn = !selected.has(key)
  const from = range.isRange && range.anchor !== null ? range.anchor : index
  for (const each of keys.slice(Math.min(from, index), Math.max(from, index) + 1)) {
    if (isOn) next.add(each)
    else next.delete(each)
  }
  return next
}

export function allToggled(selected: ReadonlySet<string>, keys: readonly string[]): Set<string> {
  const next = new Set(selected)
  const areAllOn = keys.every((key) => selected.has(key))
  for (const key of keys) {
    if (areAllOn) next.delete(key)
    else next.add(key)
  }
  return next
}
