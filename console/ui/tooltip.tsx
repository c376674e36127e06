import { PopoverNext } from '@blueprintjs/core'
import type { ReactElement } from 'react'

/** More about something, on hover and focus. Never the only place where a fact is told. */
export function Tooltip(props: {
  content: string | ReactElement
  children: ReactElement
}): ReactElement {
  return (
    <PopoverNext
      content={props.content}
      interactionKind="hover-target"
      animation="minimal"
      arrow={false}
      hoverOpenDelay={200}
      placement="top"
      popoverClassName="tg-tooltip"
      autoFocus={false}
      enforceFocus={false}
    >
      {props.children}
    </PopoverNext>
  )
}
