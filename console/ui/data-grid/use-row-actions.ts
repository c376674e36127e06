import { useLayoutEffect, useMemo, useRef } from 'react'
import { isOnControl } from './grid-keys.ts'
import type { DataGridProps } from './grid-props.ts'
import type { Grid } from './use-grid.ts'

export type RowActs = {
  readonly press: (index: number, target: EventTarget) => void
  readonly select: (index: number, isRange: boolean) => void
  readonly toggle: (index: number) => void
}

/** Returns stable callbacks that read the latest props. New ones would render all rows again. */
export function useRowActions<Row>(props: DataGridProps<Row>, grid: Grid<Row>): RowActs {
  const latest = useRef({ props, grid })
  useLayoutEffect(() => {
    latest.current = { props, grid }
  })
  return useMemo(
    () => ({
      press: (index, target) => {
        if (isOnControl(target) || window.getSelection()?.isCollapsed === false) return
        const { props, grid } = latest.current
        if (props.onOpen !== undefined || props.expand !== undefined) grid.open(index)
        else grid.activate(index)
      },
      select: (index, isRange) => latest.current.grid.select(index, isRange),
      toggle: (index) => latest.current.grid.toggleExpanded(index),
    }),
    [],
  )
}
