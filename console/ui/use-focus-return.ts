import { useEffect, useRef } from 'react'

/**
 * Gives the focus back to what had it when `isOpen` became true. It is read while drawing: by the
 * time of an effect, a field inside that takes the focus for itself has it already.
 */
export function useFocusReturn(isOpen: boolean): void {
  const opener = useRef<HTMLElement | null>(null)
  const wasOpen = useRef(false)
  if (isOpen && !wasOpen.current) opener.current = focusedNow()
  wasOpen.current = isOpen
  useEffect(() => {
    if (!isOpen) return
    return () => {
      // After the frame in which the closing panel lets go of the focus.
      requestAnimationFrame(() => giveBack(opener.current))
    }
  }, [isOpen])
}

/** The dialog on top of all that is open, and not about to close. */
export const lastDialog = (): HTMLElement | undefined =>
  [
    ...document.querySelectorAll<HTMLElement>(
      '[aria-modal="true"]:not(.tg-overlay-exit, .tg-overlay-exit-active)',
    ),
  ].at(-1)

function focusedNow(): HTMLElement | null {
  const focused = document.activeElement
  if (!(focused instanceof HTMLElement)) return null
  // An entry of a menu is gone by then; its button stays.
  const isInMenu = focused.closest('.bp6-popover') !== null
  const button = document.querySelector<HTMLElement>('.bp6-popover-open button')
  return isInMenu ? (button ?? focused) : focused
}

function giveBack(opener: HTMLElement | null): void {
  const focused = document.activeElement
  const isElsewhere = focused !== document.body && focused?.closest('.bp6-overlay') === null
  // Another dialog that opened meanwhile keeps it, as does whatever the reader went to.
  if (isElsewhere || document.querySelector('[aria-modal="true"]:focus-within') !== null) {
    if (focused?.closest('.tg-overlay-exit, .tg-overlay-exit-active') === null) return
  }
  const isThere = opener?.isConnected === true
  const target = isThere ? opener : (lastDialog() ?? document.getElementById('main'))
  target?.focus({ preventScroll: true })
}
