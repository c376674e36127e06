import { Overlay2 } from '@blueprintjs/core'
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import { dismissErrors } from '../messages/toast.ts'
import { lastDialog, useFocusReturn, willLoseFocus } from './use-focus-return.ts'

/**
 * The base of dialogs and drawers. While the overlay is open, the focus stays in its panel. When
 * the overlay closes, the focus returns to the element that had the focus before. Escape closes the
 * overlay.
 */
export function Overlay(props: {
  isOpen: boolean
  onClose: () => void
  labelledBy: string
  describedBy?: string | undefined
  className: string
  role?: 'dialog' | 'alertdialog'
  onOpened?: (panel: HTMLElement) => void
  children: ReactNode
}) {
  const panel = useRef<HTMLDivElement | null>(null)
  const { isOpen, onClose } = props
  useFocusReturn(isOpen)
  useEffect(() => (isOpen ? dismissErrors : undefined), [isOpen])
  // Keys are handled on the document, because the page or a closing panel may still have the focus
  // just after opening. The handler is added in a layout effect: a passive effect could run later
  // than a key that is pressed after the first paint.
  useLayoutEffect(() => {
    if (!isOpen) return
    const closeOnEscape = (event: KeyboardEvent): void => {
      const top = lastDialog()
      if (event.key !== 'Escape' || top === undefined || top !== panel.current) return
      if (!(event.target instanceof Element) || !willLoseFocus(event.target, top)) return
      // Without this call, the dialog that still has the focus would also close, or would ask about
      // unsaved changes.
      event.stopPropagation()
      onClose()
    }
    document.addEventListener('keydown', closeOnEscape, true)
    return () => document.removeEventListener('keydown', closeOnEscape, true)
  }, [isOpen, onClose])
  // The panel gets the focus, so that screen readers read the name of the panel.
  const takeFocus = () =>
    requestAnimationFrame(() => {
      if (panel.current?.contains(document.activeElement) === false) {
        panel.current.focus({ preventScroll: true })
      }
      if (panel.current !== null && document.activeElement === panel.current) {
        props.onOpened?.(panel.current)
      }
    })
  const attach = useCallback((node: HTMLDivElement) => {
    panel.current = node
    // If the element with the focus is removed, the panel gets the focus. Otherwise, Escape would
    // no longer work.
    const observer = new MutationObserver(() => {
      if (document.activeElement !== document.body || lastDialog() !== node) return
      node.focus({ preventScroll: true })
    })
    observer.observe(node, { childList: true, subtree: true })
    return () => {
      observer.disconnect()
      panel.current = null
    }
  }, [])
  return (
    <Overlay2
      isOpen={isOpen}
      onClose={onClose}
      onOpening={takeFocus}
      childRef={panel as React.RefObject<HTMLElement>}
      backdropClassName="tg-backdrop"
      className="tg-overlay"
      transitionDuration={160}
      transitionName="tg-overlay"
      canEscapeKeyClose
      canOutsideClickClose
      shouldReturnFocusOnClose={false}
    >
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both of its roles support it */}
      <div
        ref={attach}
        className={`tg-overlay-panel ${props.className}`}
        role={props.role ?? 'dialog'}
        aria-modal="true"
        aria-labelledby={props.labelledBy}
        aria-describedby={props.describedBy}
        tabIndex={-1}
      >
        {props.children}
      </div>
    </Overlay2>
  )
}
