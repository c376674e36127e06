import { type RefObject, useEffect, useRef, useState } from 'react'

type PagedRows = {
  /** The element that contains the rows of the shown page. */
  readonly rowsElement: RefObject<HTMLDivElement | null>
  readonly page: number
  readonly setPage: (page: number) => void
}

/**
 * Opens the page with the row whose key is in `target`, and scrolls to this row. A new `target`
 * object scrolls again, even if its key is the same. `rowKeys` contains the keys of all rows in
 * their order.
 */
export function useScrollToRow(
  target: { readonly key: string } | null,
  rowKeys: readonly string[],
  pageSize: number,
): PagedRows {
  const rowsElement = useRef<HTMLDivElement>(null)
  const [page, setPage] = useState(0)
  const lastTarget = useRef(target)
  const last = Math.max(0, Math.ceil(rowKeys.length / pageSize) - 1)
  const shown = Math.min(page, last)
  useEffect(() => {
    if (target === null || lastTarget.current === target) return
    const index = rowKeys.indexOf(target.key)
    if (index < 0) return
    const targetPage = Math.floor(index / pageSize)
    if (targetPage !== shown) return setPage(targetPage)
    lastTarget.current = target
    rowsElement.current?.querySelector('.tg-grid-row-fresh')?.scrollIntoView({ block: 'nearest' })
  }, [target, rowKeys, pageSize, shown])
  return { rowsElement, page: shown, setPage }
}
