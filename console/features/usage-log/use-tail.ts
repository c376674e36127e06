import { useCallback, useEffect, useMemo, useState } from 'react'
import { EMPTY_TAIL, hold, type LiveTail } from './live-tail.ts'

type Kept = { readonly view: string; readonly tail: LiveTail }

/**
 * The live rows of one view: a change of filters, page or page size starts an empty tail. The
 * screen decides `isHeld`; ending the hold shows what waited.
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
  // Released rows stay visible when the reader holds again right after.
  useEffect(() => update((last) => last), [update])
  return [tail, update]
}
