import { type FocusEvent, type PointerEvent, useState } from 'react'

export type ReadingState = ReturnType<typeof useIsReading>

/**
 * Detects whether the user is reading the list. While the user is reading, the rows must not move.
 */
export function useIsReading() {
  const [isAtTop, setAtTop] = useState(true)
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  return {
    isReading: !isAtTop || isHovered || isFocused,
    onAtTop: setAtTop,
    listeners: {
      // A touch that scrolls the list fires enter events without leave events, so only the mouse
      // counts.
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
