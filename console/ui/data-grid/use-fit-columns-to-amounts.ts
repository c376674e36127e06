import { useEffect, useMemo, useState } from 'react'
import { WIDTH_MAX } from './column-and-layout.ts'
import type { ColumnLayout } from './use-column-layout.ts'

/**
 * Returns a layout in which columns whose amounts do not fit are wider, because a truncated amount
 * could be misread. The caller must pass each rendered row to the returned function `measure`.
 */
export function useFitColumnsToAmounts<Row>(layout: ColumnLayout<Row>, box: HTMLElement | null) {
  const [minWidths, setMinWidths] = useState<Readonly<Record<string, number>>>({})
  const measure = useMemo(
    () =>
      afterLayout((rows) => {
        const wider = widthsOfCutAmounts(rows)
        if (Object.keys(wider).length > 0) setMinWidths((widths) => ({ ...widths, ...wider }))
      }),
    [],
  )
  // All amounts are measured again when widths change, because a column may have become too narrow.
  const widths = layout.visible.map(layout.widthOf).join(' ')
  useEffect(() => {
    const measureAll = () => box?.querySelectorAll('.tg-grid-body .tg-grid-row').forEach(measure)
    if (widths !== '') measureAll()
    // The amounts are also measured when a font has loaded, because this font may be wider than the
    // fallback font.
    document.fonts.addEventListener('loadingdone', measureAll)
    return () => document.fonts.removeEventListener('loadingdone', measureAll)
  }, [box, measure, widths])
  const fullLayout: ColumnLayout<Row> = {
    ...layout,
    widthOf: (column) => Math.max(layout.widthOf(column), minWidths[column.id] ?? 0),
  }
  return { layout: fullLayout, measure }
}

/**
 * Returns a function that waits until the browser has laid out an element. `onLayout` is then
 * called with the element. Measuring the element earlier would force the browser to lay out the
 * page twice.
 */
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
    // Each element between the amount and its cell is checked, because any of them may truncate it.
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
