import type { KeyboardEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { areSingleKeysOn, useRegisterActions } from '../actions/action-registry.ts'
import type { DataGridProps } from './grid-props-and-row-heights.ts'
import { type Grid, OVERSCAN } from './use-grid.ts'

/** Returns the key handler of a list. The focus is on the list as a whole, and never on a row. */
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

/**
 * Expands or collapses the details of a row or, in a tree, the branch below it. If `isReversing` is
 * true, the current state is reversed. If `isReversing` is false, `isClosing` determines whether to
 * collapse or to expand.
 */
function toggle<Row>(
  props: DataGridProps<Row>,
  grid: Grid<Row>,
  row: Row,
  isClosing: boolean,
  isReversing: boolean,
): void {
  const branch = props.branch?.(row)
  if (branch === undefined && props.expand === undefined) return
  const isOpen = branch === undefined ? grid.isExpanded(row) : branch.isOpen === true
  if (!isReversing && isOpen !== isClosing) return
  if (branch === undefined) grid.toggleExpanded(grid.active)
  else branch.onToggle?.()
}

/**
 * Registers the shortcuts of a list. `j` and `k` (next and previous row) work wherever the focus is
 * on the page. The others are only listed, because `useGridKeys` handles them while the list has
 * the focus.
 */
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

type GridAction = { move: number } | 'open' | 'expand' | 'select' | 'collapse' | null

/**
 * Returns the action for a key that is pressed in a list, or null if the key has no action.
 * `active` is the index of the row to which keys apply, or -1 if there is none.
 */
function gridActionOf(key: string, active: number, count: number, pageRows: number): GridAction {
  if (count === 0) return null
  const target = targetOf(key, active, count, pageRows)
  if (target !== null) return { move: Math.min(count - 1, Math.max(0, target)) }
  if (active < 0) return null
  return ACTIONS_BY_KEY[key] ?? null
}

const ACTIONS_BY_KEY: Readonly<Record<string, GridAction>> = {
  Enter: 'open',
  ' ': 'expand',
  ArrowRight: 'expand',
  ArrowLeft: 'collapse',
  x: 'select',
}

function targetOf(key: string, active: number, count: number, pageRows: number): number | null {
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return active + 1
    case 'ArrowUp':
    case 'k':
      return active < 0 ? 0 : active - 1
    case 'PageDown':
      return active + pageRows
    case 'PageUp':
      return active - pageRows
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return null
  }
}

/**
 * Reports whether the target of an event in a row is a control, such as a button, which handles the
 * event itself.
 */
export function isOnControl(target: EventTarget): boolean {
  return (
    target instanceof Element &&
    target.closest('button, a, input, select, textarea, label, [role="separator"]') !== null
  )
}
