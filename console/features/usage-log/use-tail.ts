import { useCallback, useEffect, useMemo, useState } from 'react'
import { EMPTY_TAIL, hold, type LiveTail } from './live-tail.ts'

type Kept = { readonly view: string; readonly tail: LiveTail }

/**
 * Manages the live rows of a view. A new `view` (filters, order, page) starts without live rows.
 * The pending rows are shown when `isHeld` becomes false.
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
  // Store the rows after each pause and resume, so that shown rows stay visible in the next pause.
  useEffect(() => update((last) => last), [update])
  return [tail, update]
}
