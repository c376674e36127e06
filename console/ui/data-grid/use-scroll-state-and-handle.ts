import { useEffect, useImperativeHandle, useState } from 'react'
import type { DataGridProps } from './grid-props-and-row-heights.ts'
import { AT_TOP_PX, type Grid } from './use-grid.ts'

/**
 * Options for scroll listeners that must run before the rows are rendered. A listener that measures
 * after rendering would force the browser to lay out the page twice.
 */
const BEFORE_RENDERING_OPTIONS = { capture: true, passive: true } as const

export function useGridHandle<Row>(props: DataGridProps<Row>, grid: Grid<Row>): void {
  const { onAtTop } = props
  const [isAtTop, setAtTop] = useState(true)
  const { scroller, box } = grid
  const isOpen = grid.page !== null
  useEffect(() => {
    // While details are shown, `isAtTop` is false. Callers then add no rows at the top.
    const updateAtTop = () => setAtTop(!isOpen && (box?.scrollTop ?? 0) <= AT_TOP_PX)
    updateAtTop()
    box?.addEventListener('scroll', updateAtTop, BEFORE_RENDERING_OPTIONS)
    return () => box?.removeEventListener('scroll', updateAtTop, BEFORE_RENDERING_OPTIONS)
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
    const hasMoreAtRight = box.scrollLeft + box.clientWidth < box.scrollWidth - 1
    box.toggleAttribute('data-more', hasMoreAtRight)
    box.toggleAttribute('data-wide', box.scrollWidth > box.clientWidth + 1)
    box.style.setProperty('--tg-box', `${box.clientHeight}px`)
  }
  const sizes = new ResizeObserver(update)
  for (const element of [box, ...box.children]) sizes.observe(element)
  box.addEventListener('scroll', update, BEFORE_RENDERING_OPTIONS)
  return () => {
    sizes.disconnect()
    box.removeEventListener('scroll', update, BEFORE_RENDERING_OPTIONS)
  }
}
