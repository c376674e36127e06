import { useStableCallbacks } from '../state/use-stable-callbacks.ts'
import { isOnControl } from './grid-keys.ts'
import type { DataGridProps } from './grid-props.ts'
import type { Grid } from './use-grid.ts'

export type RowHandlers = ReturnType<typeof useRowHandlers>

/**
 * Returns the handlers of the rows. The functions stay the same, so that memoized rows are not
 * rendered again.
 */
export const useRowHandlers = <Row>(props: DataGridProps<Row>, grid: Grid<Row>) =>
  useStableCallbacks({
    press: (index: number, target: EventTarget) => {
      if (isOnControl(target) || window.getSelection()?.isCollapsed === false) return
      if (props.onOpen !== undefined || props.expand !== undefined) grid.open(index)
      else grid.activate(index)
    },
    select: grid.select,
    toggle: grid.toggleExpanded,
  })
