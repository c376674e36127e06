import { Overlay2 } from '@blueprintjs/core'
import { type ReactElement, type ReactNode, useCallback, useEffect, useRef } from 'react'
import { dismissRefusals } from './toast.ts'
import { lastDialog, useFocusReturn } from './use-focus-return.ts'

/**
 * What drawers and dialogs share: labelled, focus kept inside and given back on close, closed by
 * Escape and by a press outside.
 */
export function Overlay(props: {
  isOpen: boolean
  onClose: () => void
  labelledBy: string
  describedBy?: string | undefined
  className: string
  role?: 'dialog' | 'alertdialog'
  /** Once it is open, for a panel that has a better place for the focus than itself. */
  onOpened?: (panel: HTMLElement) => void
  children: ReactNode
}): ReactElement {
  const panel = useRef<HTMLDivElement | null>(null)
  useFocusReturn(props.isOpen)
  // What was refused in it was about what is left with it.
  const { isOpen } = props
  useEffect(() => (isOpen ? dismissRefusals : undefined), [isOpen])
  // The panel itself, whose name is read out; else it would be an edge that only traps the focus.
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
    // What had the focus may be gone after an act: the keys, and Escape, are the panel's then.
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
      isOpen={props.isOpen}
      onClose={props.onClose}
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
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both of its roles have it */}
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
