import { useRef } from 'react'

/**
 * Returns the item that a drawer or dialog shows, or the last item while it closes. `key` changes
 * with each opening. As React key, `key` resets the state of the content.
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
