import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useId, useRef, useState } from 'react'
import { dismissHints } from '../messages/toast.ts'
import { CARD_HEIGHT, HEADER_HEIGHT, ROW_HEIGHT, useDensity } from './density.ts'
import type { DataGridProps } from './grid-props.ts'
import { toggled } from './selection.ts'
import {
  type PagePosition,
  scrollerOptions,
  usePagePosition,
  useScrollTakeover,
} from './use-page-scroll.ts'

export type Grid<Row> = {
  readonly id: string
  readonly scroller: RefObject<HTMLDivElement | null>
  /** The element as state once rendered; a list that was empty first has none until rows arrive. */
  readonly box: HTMLDivElement | null
  readonly attach: (box: HTMLDivElement | null) => void
  readonly virtualizer: Virtualizer<HTMLDivElement, Element>
  /** The position of the page while open details make the list scroll with it; otherwise null. */
  readonly page: PagePosition | null
  /** The distance from the scroller's start to the first row. */
  readonly margin: number
  /**
   * The index of the row that keys act on; -1 for none. It is kept by key, so that it moves with
   * its row.
   */
  readonly active: number
  readonly isExpanded: (row: Row) => boolean
  readonly activate: (index: number) => void
  readonly toggleExpanded: (index: number) => void
  readonly open: (index: number) => void
  readonly select: (index: number, isRange: boolean) => void
}

/**
 * The number of rows rendered beyond each end: as many as pass in three frames of fast scrolling.
 */
export const OVERSCAN = 5

/** Scrolled by less than this, the newest row is visible. */
export const AT_TOP_PX = 4

/** The state shared by the table and the cards: visible, active, expanded and selected rows. */
export function useGrid<Row>(props: DataGridProps<Row>, isCards: boolean): Grid<Row> {
  const { rows, rowKey } = props
  const { scroller, box, attach } = useScroller()
  const lastPressed = useRef<number | null>(null)
  const [density] = useDensity(props.density)
  const [activeKey, setActiveKey] = useState<string | null>(null)
  const [expanded, setExpanded] = useExpanded(props.openKey)
  const keyAt = useKeyAt(props)
  // Details in a box that scrolls would have to be read in two nested scrollers.
  const canLeaveBox = props.maxHeight === undefined
  const page = usePagePosition(box, canLeaveBox && isAnyExpanded(rows, rowKey, expanded))
  const head = isCards ? 0 : HEADER_HEIGHT
  const margin = (page?.top ?? 0) + head
  const virtualizer = useVirtualizer<HTMLDivElement, Element>({
    ...scrollerOptions(page !== null, () => scroller.current),
    count: rows.length,
    estimateSize: () => (isCards ? CARD_HEIGHT : ROW_HEIGHT[density]),
    getItemKey: keyAt,
    overscan: isCards ? 3 : OVERSCAN,
    scrollMargin: margin,
    scrollPaddingStart: (page?.coveredHeight ?? 0) + head,
    initialRect: { width: 1024, height: 480 },
    // Rows that are being read stay where they are when others arrive above them.
    anchorTo: isReading(scroller.current, expanded) ? 'end' : 'start',
    // A list that fits counts as scrolled to its end: opening a row must not scroll it away.
    scrollEndThreshold: -1,
  })
  useScrollTakeover(box, page !== null)
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

/** A function that gives the key of the row at an index; a missing row has a key as well. */
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
  dismissHints()
  selection.onChange(toggled(selection.keys, rows.map(rowKey), index, range))
}

/** The rows with open details. Details that the reader closed stay closed. */
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
 * Searches near the last known place first, because rows only move when others are added or
 * removed.
 */
function useActiveIndex<Row>(
  rows: readonly Row[],
  rowKey: (row: Row) => string,
  activeKey: string | null,
): number {
  const last = useRef(-1)
  const isThere = (row: Row | undefined) => row !== undefined && rowKey(row) === activeKey
  if (activeKey === null) return -1
  if (!isThere(rows[last.current])) last.current = rows.findIndex(isThere)
  return last.current
}
