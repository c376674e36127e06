import { PopoverNext } from '@blueprintjs/core'
import { createContext, type ReactElement, useContext, useEffect, useRef, useState } from 'react'

type PopoverProps = {
  /** The button that opens it. */
  children: ReactElement
  content: ReactElement
  placement?: 'bottom-start' | 'bottom-end' | 'right-start' | 'top-start'
  /** `menu` for menus, `dialog` for anything with fields. */
  kind?: 'menu' | 'dialog'
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
}

const Dismiss = createContext<() => void>(() => undefined)

/** Closes the popover that the caller is in. */
export const useDismissPopover = (): (() => void) => useContext(Dismiss)

/** Content that opens beside its button, and closes on Escape or a press outside. */
export function Popover(props: PopoverProps): ReactElement {
  const [isOpenHere, setOpenHere] = useState(false)
  const isOpen = props.isOpen ?? isOpenHere
  const setOpen = (next: boolean) => {
    setOpenHere(next)
    props.onOpenChange?.(next)
  }
  return (
    <PopoverNext
      content={
        <Dismiss value={() => setOpen(false)}>
          <FocusFirst>{props.content}</FocusFirst>
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
      shouldReturnFocusOnClose
    >
      {props.children}
    </PopoverNext>
  )
}

/** Keys go on inside: to the current choice of a menu, else to the first thing that takes them. */
function FocusFirst(props: { children: ReactElement }): ReactElement {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const chosen = box.current?.querySelector<HTMLElement>('[aria-checked="true"]')
      const first = box.current?.querySelector<HTMLElement>('button:enabled, input, select, a')
      ;(chosen ?? first)?.focus()
    })
    return () => cancelAnimationFrame(frame)
  }, [])
  return <div ref={box}>{props.children}</div>
}
