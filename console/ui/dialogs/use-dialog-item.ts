import { useRef } from 'react'

/**
 * Keeps the item that a dialog shows (`lastItem`) until the dialog has faded out. `key` is a React
 * key for the dialog's content. This key changes each time the dialog opens, so that the content
 * starts with a fresh state.
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
