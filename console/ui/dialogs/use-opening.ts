import { useRef } from 'react'

/**
 * Returns the item of a drawer or dialog: null before the first opening, and the last item while
 * closing. `key` changes with each opening, so that state keyed by it starts fresh.
 */
export function useOpening<Item>(item: Item | null) {
  const shown = useRef<Item | null>(null)
  const openings = useRef(0)
  const wasOpen = useRef(false)
  const isOpen = item !== null
  if (isOpen) shown.current = item
  if (isOpen && !wasOpen.current) openings.current += 1
  wasOpen.current = isOpen
  return { isOpen, shown: shown.current, key: openings.current }
}
