import { useLayoutEffect, useRef } from 'react'

/**
 * When the panel closes, returns the focus to the element that had it before. This element is read
 * during rendering, because a child may take the focus before effects run. It is remembered until
 * the panel has closed on screen, because React may discard a rendering that closes the panel.
 */
export function useFocusReturn(isOpen: boolean): void {
  const opener = useRef<HTMLElement | null>(null)
  const isOnScreen = useRef(false)
  if (isOpen && !isOnScreen.current) opener.current = currentFocus()
  useLayoutEffect(() => {
    if (!isOpen) return
    isOnScreen.current = true
    return () => {
      isOnScreen.current = false
      // Waits for a frame, until the closing panel has released the focus.
      requestAnimationFrame(() => returnFocus(opener.current))
    }
  }, [isOpen])
}

/** Returns the topmost dialog that is not closing. */
export const lastDialog = (): HTMLElement | undefined =>
  [
    ...document.querySelectorAll<HTMLElement>(
      '[aria-modal="true"]:not(.tg-overlay-exit, .tg-overlay-exit-active)',
    ),
  ].at(-1)

/** Reports whether an element has the focus only until the opening panel takes it. */
export const isLeft = (focused: Element, panel: Element): boolean => {
  const dialog = focused.closest('[aria-modal="true"]')
  return focused === document.body || (dialog !== null && dialog !== panel)
}

function currentFocus(): HTMLElement | null {
  const focused = document.activeElement
  if (!(focused instanceof HTMLElement)) return null
  // A closing menu removes the focused entry. The focus therefore returns to the menu's button.
  const isInMenu = focused.closest('.bp6-popover') !== null
  const button = document.querySelector<HTMLElement>('.bp6-popover-open button')
  return isInMenu ? (button ?? focused) : focused
}

function returnFocus(opener: HTMLElement | null): void {
  const focused = document.activeElement
  const isElsewhere = focused !== document.body && focused?.closest('.bp6-overlay') === null
  // The focus stays if the user has moved it or if another dialog is open.
  if (isElsewhere || document.querySelector('[aria-modal="true"]:focus-within') !== null) {
    if (focused?.closest('.tg-overlay-exit, .tg-overlay-exit-active') === null) return
  }
  const isThere = opener?.isConnected === true
  const target = isThere ? opener : (lastDialog() ?? document.getElementById('main'))
  target?.focus({ preventScroll: true })
}
