import { useEffect, useRef } from 'react'

/**
 * Returns the focus to the element that had it when `isOpen` became true. The element is read
 * during the render, because a field inside may have taken the focus before an effect runs.
 */
export function useFocusReturn(isOpen: boolean): void {
  const opener = useRef<HTMLElement | null>(null)
  const wasOpen = useRef(false)
  if (isOpen && !wasOpen.current) opener.current = focusedNow()
  wasOpen.current = isOpen
  useEffect(() => {
    if (!isOpen) return
    return () => {
      // The closing panel releases the focus in the next frame.
      requestAnimationFrame(() => giveBack(opener.current))
    }
  }, [isOpen])
}

/** The topmost dialog that is open and not about to close. */
export const lastDialog = (): HTMLElement | undefined =>
  [
    ...document.querySelectorAll<HTMLElement>(
      '[aria-modal="true"]:not(.tg-overlay-exit, .tg-overlay-exit-active)',
    ),
  ].at(-1)

function focusedNow(): HTMLElement | null {
  const focused = document.activeElement
  if (!(focused instanceof HTMLElement)) return null
  // A menu entry has been removed by then, but its button remains.
  const isInMenu = focused.closest('.bp6-popover') !== null
  const button = document.querySelector<HTMLElement>('.bp6-popover-open button')
  return isInMenu ? (button ?? focused) : focused
}

function giveBack(opener: HTMLElement | null): void {
  const focused = document.activeElement
  const isElsewhere = focused !== document.body && focused?.closest('.bp6-overlay') === null
  // A dialog that has opened meanwhile, or an element that the user chose, keeps the focus.
  if (isElsewhere || document.querySelector('[aria-modal="true"]:focus-within') !== null) {
    if (focused?.closest('.tg-overlay-exit, .tg-overlay-exit-active') === null) return
  }
  const isThere = opener?.isConnected === true
  const target = isThere ? opener : (lastDialog() ?? document.getElementById('main'))
  target?.focus({ preventScroll: true })
}
