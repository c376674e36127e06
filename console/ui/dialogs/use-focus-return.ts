import { useLayoutEffect, useRef } from 'react'

/**
 * When a panel closes, returns the focus to the element that had the focus before the panel opened.
 * This element is read during rendering, because a child may take the focus before effects run. The
 * element is remembered until the panel has closed on the screen, because React may discard a
 * rendering that closes the panel.
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
      // The focus is returned one frame later, when the closing panel has released the focus.
      requestAnimationFrame(() => returnFocus(opener.current))
    }
  }, [isOpen])
}

/** Returns the topmost dialog that is not closing, or undefined if there is none. */
export const lastDialog = (): HTMLElement | undefined =>
  [
    ...document.querySelectorAll<HTMLElement>(
      '[aria-modal="true"]:not(.tg-overlay-exit, .tg-overlay-exit-active)',
    ),
  ].at(-1)

/**
 * Reports whether `focused` loses the focus to the opening `panel`. An element of the page or of
 * another dialog loses the focus. An element of a menu or of a message keeps the focus.
 */
export const willLoseFocus = (focused: Element, panel: Element): boolean => {
  const dialog = focused.closest('[aria-modal="true"]')
  if (dialog !== null) return dialog !== panel
  return focused.closest('.bp6-popover, .tg-toaster') === null
}

function currentFocus(): HTMLElement | null {
  const focused = document.activeElement
  if (!(focused instanceof HTMLElement)) return null
  // A menu that closes also removes the menu item that has the focus. The focus therefore returns
  // to the button of the menu.
  const isInMenu = focused.closest('.bp6-popover') !== null
  const button = document.querySelector<HTMLElement>('.bp6-popover-open button')
  return isInMenu ? (button ?? focused) : focused
}

function returnFocus(opener: HTMLElement | null): void {
  const focused = document.activeElement
  const isElsewhere = focused !== document.body && focused?.closest('.bp6-overlay') === null
  // The focus is not returned if the user has moved it, or if another dialog is open.
  if (isElsewhere || document.querySelector('[aria-modal="true"]:focus-within') !== null) {
    if (focused?.closest('.tg-overlay-exit, .tg-overlay-exit-active') === null) return
  }
  const isThere = opener?.isConnected === true
  const target = isThere ? opener : (lastDialog() ?? document.getElementById('main'))
  target?.focus({ preventScroll: true })
}
