import { useRef, useState } from 'react'

/**
 * Keeps the item that a dialog shows (`lastItem`) until the dialog has faded out. `key` is a React
 * key for the dialog's content. It changes each time the dialog opens, so that the content starts
 * with a fresh state.
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

/**
 * Returns an object as it was first read after the dialog opened, or null until then. A form
 * compares its values with that version to find what its user has changed. With a later version,
 * another user's change would look like a change by this user.
 */
export function useFirstVersion<Data>(query: {
  readonly data: Data | undefined
  readonly isFetchedAfterMount: boolean
}): Data | null {
  const [first, setFirst] = useState<Data | null>(null)
  if (first === null && query.data !== undefined && query.isFetchedAfterMount) setFirst(query.data)
  return first
}
