import { type FocusEvent, type PointerEvent, useState } from 'react'

export type ReadingState = ReturnType<typeof useIsReading>

/**
 * Reports whether the user is reading the list: the list is scrolled, is under the mouse pointer,
 * or has the focus. New rows must then not move the list.
 */
export function useIsReading() {
  const [isAtTop, setAtTop] = useState(true)
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  return {
    isReading: !isAtTop || isHovered || isFocused,
    onAtTop: setAtTop,
    listeners: {
      // Only a mouse pointer counts, because browsers fire no leave event for a touch that scrolls.
      onPointerEnter: (event: PointerEvent) => setHovered(event.pointerType === 'mouse'),
      onPointerLeave: () => setHovered(false),
      onFocus: () => setFocused(true),
      onBlur: (event: FocusEvent) => {
        const next = event.relatedTarget
        if (!(next instanceof Node && event.currentTarget.contains(next))) setFocused(false)
      },
    },
  }
}
