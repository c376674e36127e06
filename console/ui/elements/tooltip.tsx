import { PopoverNext } from '@blueprintjs/core'
import { type ReactElement, useEffect, useRef, useState } from 'react'
import { PopoverAnchor } from './popover.tsx'

const DELAY_MS = 200

/**
 * A tooltip. The content is mounted only while the tooltip is shown, because lists contain many
 * tooltips.
 */
export function Tooltip(props: { content: string | ReactElement; children: ReactElement }) {
  const [isOpen, setOpen] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const close = () => {
    clearTimeout(timer.current)
    setOpen(false)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the content has a role and handles keys
    <span
      className="tg-anchored"
      onPointerEnter={() => {
        timer.current = setTimeout(() => setOpen(true), DELAY_MS)
      }}
      onPointerLeave={close}
      onFocus={() => setOpen(true)}
      onBlur={close}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close()
      }}
    >
      {props.children}
      {isOpen && (
        <PopoverNext
          isOpen
          content={props.content}
          animation="minimal"
          arrow={false}
          placement="top"
          popoverClassName="tg-tooltip"
          autoFocus={false}
          enforceFocus={false}
          shouldReturnFocusOnClose={false}
        >
          <PopoverAnchor />
        </PopoverNext>
      )}
    </span>
  )
}
