import { useRef } from 'react'

/**
 * The item that a drawer or dialog shows: while it closes, still the last one; null before the
 * first opening. `key` changes with each opening, so that what it names starts with fresh state.
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
