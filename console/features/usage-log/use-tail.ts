import { useCallback, useEffect, useMemo, useState } from 'react'
import { EMPTY_TAIL, hold, type LiveTail } from './live-tail.ts'

type Kept = { readonly view: string; readonly tail: LiveTail }

/**
 * The live rows of a view. A change of filters, page or page size starts an empty tail. When
 * `isHeld` becomes false, the waiting rows are shown.
 */
export function useTail(
  view: string,
  isHeld: boolean,
): [LiveTail, (change: (tail: LiveTail) => LiveTail) => void] {
  const [kept, setKept] = useState<Kept>({ view, tail: EMPTY_TAIL })
  const tail = useMemo(
    () => hold(kept.view === view ? kept.tail : EMPTY_TAIL, isHeld),
    [kept, view, isHeld],
  )
  const update = useCallback(
    (change: (tail: LiveTail) => LiveTail) =>
      setKept((last) => {
        const base = last.view === view ? last.tail : EMPTY_TAIL
        return { view, tail: change(hold(base, isHeld)) }
      }),
    [view, isHeld],
  )
  // Stores the tail when the hold changes, so that released rows stay visible in the next hold.
  useEffect(() => update((last) => last), [update])
  return [tail, update]
}
