import { PopoverNext } from '@blueprintjs/core'
import { createContext, type ReactElement, useContext, useEffect, useRef, useState } from 'react'
import { useFocusReturn } from '../dialogs/use-focus-return.ts'

type PopoverProps = {
  children: ReactElement
  content: ReactElement
  placement?: 'bottom-start' | 'bottom-end' | 'right-start' | 'top-start'
  /**
   * The role of the content: `menu` for a menu, and `dialog` for all other content, such as fields.
   */
  kind?: 'menu' | 'dialog'
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
}

const Dismiss = createContext<() => void>(() => undefined)

export const useDismissPopover = (): (() => void) => useContext(Dismiss)

export function Popover(props: PopoverProps) {
  const [isOpenHere, setOpenHere] = useState(false)
  const isOpen = props.isOpen ?? isOpenHere
  useFocusReturn(isOpen)
  const setOpen = (next: boolean) => {
    setOpenHere(next)
    props.onOpenChange?.(next)
  }
  return (
    <PopoverNext
      content={
        <Dismiss value={() => setOpen(false)}>
          <FocusFirst>{props.content}</FocusFirst>
          {isOpen && <CloseOnEscape onEscape={() => setOpen(false)} />}
        </Dismiss>
      }
      isOpen={isOpen}
      onInteraction={setOpen}
      placement={props.placement ?? 'bottom-end'}
      popupKind={(props.kind ?? 'dialog') as never}
      animation="minimal"
      arrow={false}
      popoverClassName="tg-popover"
      autoFocus={false}
      // Blueprint would move the focus back even if the user has moved the focus in the meantime.
      shouldReturnFocusOnClose={false}
      canEscapeKeyClose={false}
      enforceFocus={isOpen}
    >
      {props.children}
    </PopoverNext>
  )
}

/**
 * The element next to which a popover is placed if another element opens the popover. Blueprint
 * passes ARIA attributes to this component. The component drops them, because a `span` must not
 * have them and the button that opens the popover has the same attributes.
 */
export const PopoverAnchor = () => <span className="tg-anchor" />

/**
 * Closes the popover when Escape is pressed. Elements behind the popover do not receive the key.
 */
function CloseOnEscape({ onEscape }: { onEscape: () => void }) {
  const marker = useRef<HTMLSpanElement>(null)
  const handler = useRef(onEscape)
  handler.current = onEscape
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || !(event.target instanceof Element)) return
      const overlay = event.target.closest('.bp6-overlay')
      if (overlay !== null && overlay !== marker.current?.closest('.bp6-overlay')) return
      event.preventDefault()
      event.stopPropagation()
      handler.current()
    }
    document.addEventListener('keydown', onKeyDown, true)
    return () => document.removeEventListener('keydown', onKeyDown, true)
  }, [])
  return <span ref={marker} hidden />
}

/** Moves the focus into the popover: to the selected entry of a menu, or to the first control. */
function FocusFirst(props: { children: ReactElement }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const checked = box.current?.querySelector<HTMLElement>('[aria-checked="true"]')
      const first = box.current?.querySelector<HTMLElement>('button:enabled, input, select, a')
      ;(checked ?? first)?.focus()
    })
    return () => cancelAnimationFrame(frame)
  }, [])
  return <div ref={box}>{props.children}</div>
}
