import type { KeyboardEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { areSingleKeysOn, useRegisterActions } from '../actions/action.ts'
import { gridActionOf, isOnControl } from './grid-keys.ts'
import type { DataGridProps } from './grid-props.ts'
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
 * true, the current state is reversed. Otherwise, `isClosing` decides.
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
 * Registers shortcuts of a list, such as `j` and `k` for the next and the previous row. They work
 * wherever the focus is on the page.
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
