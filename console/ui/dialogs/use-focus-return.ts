import { useEffect, useRef } from 'react'

/**
 * Returns the focus to the element that had it when `isOpen` became true. The element is read
 * during the render, because a child may take the focus before effects run.
 */
export function useFocusReturn(isOpen: boolean): void {
  const opener = useRef<HTMLElement | null>(null)
  const wasOpen = useRef(false)
  if (isOpen && !wasOpen.current) opener.current = focusedNow()
  wasOpen.current = isOpen
  useEffect(() => {
    if (!isOpen) return
    return () => {
      // A closing panel releases the focus one frame later.
      requestAnimationFrame(() => giveBack(opener.current))
    }
  }, [isOpen])
}

/** Returns the topmost open dialog that is not closing. */
export const lastDialog = (): HTMLElement | undefined =>
  [
    ...document.querySelectorAll<HTMLElement>(
      '[aria-modal="true"]:not(.tg-overlay-exit, .tg-overlay-exit-active)',
    ),
  ].at(-1)

function focusedNow(): HTMLElement | null {
  const focused = document.activeElement
  if (!(focused instanceof HTMLElement)) return null
  // A focused menu entry is removed when its menu closes, so its menu button receives the focus.
  const isInMenu = focused.closest('.bp6-popover') !== null
  const button = document.querySelector<HTMLElement>('.bp6-popover-open button')
  return isInMenu ? (button ?? focused) : focused
}

function giveBack(opener: HTMLElement | null): void {
  const focused = document.activeElement
  const isElsewhere = focused !== document.body && focused?.closest('.bp6-overlay') === null
  // Do not move the focus away from a newly opened dialog or an element that the user chose.
  if (isElsewhere || document.querySelector('[aria-modal="true"]:focus-within') !== null) {
    if (focused?.closest('.tg-overlay-exit, .tg-overlay-exit-active') === null) return
  }
  const isThere = opener?.isConnected === true
  const target = isThere ? opener : (lastDialog() ?? document.getElementById('main'))
  target?.focus({ preventScroll: true })
}
