import { type RefObject, useEffect, useRef, useState } from 'react'

type PagedRows = {
  /** The element that contains the rows of the shown page. */
  readonly box: RefObject<HTMLDivElement | null>
  readonly page: number
  readonly setPage: (page: number) => void
}

/**
 * Scrolls to the row with the key of `target`, on whichever page it is. A new `target` object
 * starts the scrolling, even if the key is the same. `places` contains the keys of all rows in
 * order.
 */
export function useScrollToRow(
  target: { readonly key: string } | null,
  places: readonly string[],
  pageSize: number,
): PagedRows {
  const box = useRef<HTMLDivElement>(null)
  const [page, setPage] = useState(0)
  const sought = useRef(target)
  const last = Math.max(0, Math.ceil(places.length / pageSize) - 1)
  const shown = Math.min(page, last)
  useEffect(() => {
    if (target === null || sought.current === target) return
    const index = places.indexOf(target.key)
    if (index < 0) return
    const at = Math.floor(index / pageSize)
    if (at !== shown) return setPage(at)
    sought.current = target
    box.current?.querySelector('.tg-grid-row-fresh')?.scrollIntoView({ block: 'nearest' })
  }, [target, places, pageSize, shown])
  return { box, page: shown, setPage }
}
