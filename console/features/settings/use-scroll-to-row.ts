import { type RefObject, useEffect, useRef, useState } from 'react'

type Shown = {
  /** Set by the caller on the element that contains the rows. */
  readonly box: RefObject<HTMLDivElement | null>
  readonly page: number
  readonly setPage: (page: number) => void
}

/** `places` are the keys of all rows in order. Only a new `wanted` object has an effect. */
export function useScrollToRow(
  wanted: { readonly key: string } | null,
  places: readonly string[],
  pageSize: number,
): Shown {
  const box = useRef<HTMLDivElement>(null)
  const [page, setPage] = useState(0)
  const sought = useRef(wanted)
  const last = Math.max(0, Math.ceil(places.length / pageSize) - 1)
  const shown = Math.min(page, last)
  useEffect(() => {
    if (wanted === null || sought.current === wanted) return
    const index = places.indexOf(wanted.key)
    if (index < 0) return
    const at = Math.floor(index / pageSize)
    if (at !== shown) return setPage(at)
    sought.current = wanted
    box.current?.querySelector('.tg-grid-row-fresh')?.scrollIntoView({ block: 'nearest' })
  }, [wanted, places, pageSize, shown])
  return { box, page: shown, setPage }
}
