import { type KeyboardEvent, useEffect, useImperativeHandle, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { areSingleKeysOn, useRegisterActions } from '../actions/action.ts'
import { WIDTH_MAX } from './column.ts'
import { gridActionOf, isOnControl } from './grid-keys.ts'
import type { DataGridProps } from './grid-props.ts'
import type { ColumnLayout } from './use-column-layout.ts'
import { AT_TOP_PX, type Grid, OVERSCAN } from './use-grid.ts'

/** Handles the keys of a list. The list has the focus, its rows never have it. */
export function useGridKeys<Row>(props: DataGridProps<Row>, grid: Grid<Row>) {
  return (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target !== event.currentTarget && isOnControl(event.target)) return
    if (/^[a-z]$/.test(event.key) && !areSingleKeysOn()) return
    const pageRows = Math.max(1, grid.virtualizer.getVirtualItems().length - 2 * OVERSCAN)
    const perform = gridActionOf(event.key, grid.active, props.rows.length, pageRows)
    const row = props.rows[grid.active]
    if (perform === null) return
    event.preventDefault()
    if (typeof perform === 'object') {
      grid.activate(perform.move)
      grid.virtualizer.scrollToIndex(perform.move, { align: 'auto' })
    } else if (perform === 'open') grid.open(grid.active)
    else if (perform === 'select') grid.select(grid.active, event.shiftKey)
    else if (row !== undefined) toggle(props, grid, row, perform === 'collapse', event.key === ' ')
  }
}

/** With `isEither`, toggles the row. Otherwise, opens it, or closes it if `isClosing` is true. */
function toggle<Row>(
  props: DataGridProps<Row>,
  grid: Grid<Row>,
  row: Row,
  isClosing: boolean,
  isEither: boolean,
): void {
  const branch = props.branch?.(row)
  if (branch === undefined && props.expand === undefined) return
  const isOpen = branch === undefined ? grid.isExpanded(row) : branch.isOpen === true
  if (!isEither && isOpen !== isClosing) return
  if (branch === undefined) grid.toggleExpanded(grid.active)
  else branch.onToggle?.()
}

/** `j` and `k` work wherever the focus is on the page. */
export function useGridCommands<Row>(props: DataGridProps<Row>, grid: Grid<Row>): void {
  const { t } = useTranslation()
  const move = (step: number) => {
    const last = props.rows.length - 1
    if (last < 0) return
    grid.scroller.current?.focus({ preventScroll: grid.page !== null })
    const next = grid.active < 0 ? 0 : Math.min(last, Math.max(0, grid.active + step))
    grid.activate(next)
    grid.virtualizer.scrollToIndex(next, { align: 'auto' })
  }
  const command = (id: string, title: string, keys: string, perform?: () => void) => ({
    id: `grid-${id}`,
    title,
    keys,
    isKeyOnly: true,
    ...(perform === undefined ? {} : { perform }),
  })
  useRegisterActions([
    command('next', t('commands.nextRow'), 'j', () => move(1)),
    command('previous', t('commands.previousRow'), 'k', () => move(-1)),
    command('ends', t('commands.firstRow'), 'Home End'),
    ...(props.onOpen === undefined && props.expand === undefined
      ? []
      : [command('open', t('commands.openRow'), 'Enter')]),
    ...(props.selection === undefined ? [] : [command('select', t('commands.selectRow'), 'x')]),
  ])
}

/** Capturing listeners run before the rows render, so that measuring causes no second layout. */
const BEFORE_ROWS = { capture: true, passive: true } as const

export function useGridHandle<Row>(props: DataGridProps<Row>, grid: Grid<Row>): void {
  const { onAtTop } = props
  const [isAtTop, setAtTop] = useState(true)
  const { scroller, box } = grid
  const isOpen = grid.page !== null
  useEffect(() => {
    // While details are open, `isAtTop` is false, so that no rows are added.
    const updateAtTop = () => setAtTop(!isOpen && (box?.scrollTop ?? 0) <= AT_TOP_PX)
    updateAtTop()
    box?.addEventListener('scroll', updateAtTop, BEFORE_ROWS)
    return () => box?.removeEventListener('scroll', updateAtTop, BEFORE_ROWS)
  }, [box, isOpen])
  useEffect(() => onAtTop?.(isAtTop), [isAtTop, onAtTop])
  useEffect(() => (box === null ? undefined : watchEdge(box)), [box])
  useImperativeHandle(props.gridRef, () => ({
    scrollToTop: () => (isOpen ? window : scroller.current)?.scrollTo({ top: 0 }),
    focus: () => scroller.current?.focus(),
  }))
}

function watchEdge(box: HTMLElement): () => void {
  const update = () => {
    const isMore = box.scrollLeft + box.clientWidth < box.scrollWidth - 1
    box.toggleAttribute('data-more', isMore)
    box.toggleAttribute('data-wide', box.scrollWidth > box.clientWidth + 1)
    box.style.setProperty('--tg-box', `${box.clientHeight}px`)
  }
  const sizes = new ResizeObserver(update)
  for (const element of [box, ...box.children]) sizes.observe(element)
  box.addEventListener('scroll', update, BEFORE_ROWS)
  return () => {
    sizes.disconnect()
    box.removeEventListener('scroll', update, BEFORE_ROWS)
  }
}

/** Widens columns with truncated amounts. Pass each rendered row to `measure`. */
export function useFullAmounts<Row>(layout: ColumnLayout<Row>, box: HTMLElement | null) {
  const [minWidths, setMinWidths] = useState<Readonly<Record<string, number>>>({})
  const measure = useMemo(
    () =>
      afterLayout((rows) => {
        const wider = widthsOfCutAmounts(rows)
        if (Object.keys(wider).length > 0) setMinWidths((widths) => ({ ...widths, ...wider }))
      }),
    [],
  )
  // Measures again after a resize, because a column may become too narrow for its amounts.
  const widths = layout.visible.map(layout.widthOf).join(' ')
  useEffect(() => {
    const measureAll = () => box?.querySelectorAll('.tg-grid-body .tg-grid-row').forEach(measure)
    if (widths !== '') measureAll()
    // A loaded font may be wider than the fallback font, so all amounts are measured again.
    document.fonts.addEventListener('loadingdone', measureAll)
    return () => document.fonts.removeEventListener('loadingdone', measureAll)
  }, [box, measure, widths])
  const fullLayout: ColumnLayout<Row> = {
    ...layout,
    widthOf: (column) => Math.max(layout.widthOf(column), minWidths[column.id] ?? 0),
  }
  return { layout: fullLayout, measure }
}

/** Measures after the browser's layout. Measuring earlier would cause a second layout. */
function afterLayout(onLayout: (elements: readonly Element[]) => void): (element: Element) => void {
  const observer = new ResizeObserver((entries) => {
    const elements = entries.map(({ target }) => target)
    for (const element of elements) observer.unobserve(element)
    onLayout(elements)
  })
  return (element) => observer.observe(element)
}

function widthsOfCutAmounts(rows: readonly Element[]): Record<string, number> {
  const widths: Record<string, number> = {}
  for (const amount of rows.flatMap((row) => [...row.querySelectorAll('.tg-amount')])) {
    const cell = amount.closest<HTMLElement>('[data-column]')
    const id = cell?.dataset.column
    if (cell === null || id === undefined) continue
    let missing = 0
    // Any element between the amount and its cell may truncate the amount, so all are checked.
    for (let part = amount.parentElement; part !== null; part = part.parentElement) {
      missing = Math.max(missing, part.scrollWidth - part.clientWidth)
      if (part === cell) break
    }
    if (missing === 0) continue
    const width = Math.ceil(cell.getBoundingClientRect().width + missing)
    widths[id] = Math.max(widths[id] ?? 0, Math.min(WIDTH_MAX, width))
  }
  return widths
}
