import { useRef } from 'react'

/**
 * Keeps the item of a dialog until the dialog has closed on screen. `key` is a React key that
 * resets the content for each item.
 */
export function useDialogItem<Item>(item: Item | null) {
  const lastItem = useRef<Item | null>(null)
  const openings = useRef(0)
  const wasOpen = useRef(false)
  const isOpen = item !== null
  if (isOpen) lastItem.current = item
  if (isOpen && !wasOpen.current) openings.current += 1
  wasOpen.current = isOpen
  return { isOpen, lastItem: lastItem.current, key: openings.current }
}
