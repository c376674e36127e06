import { useRef } from 'react'

/**
 * Returns the item that a drawer or dialog shows. While the drawer or dialog closes, returns the
 * last item. `key` changes with each opening. If `key` is used as a React key, each opening resets
 * the state of the content.
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
