import { type FocusEvent, type PointerEvent, useState } from 'react'

export type ReadingState = ReturnType<typeof useIsReading>

/**
 * Detects whether the user is reading the list: it is scrolled, under the mouse, or has the focus.
 * New rows must not move the list in that case.
 */
export function useIsReading() {
  const [isAtTop, setAtTop] = useState(true)
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  return {
    isReading: !isAtTop || isHovered || isFocused,
    onAtTop: setAtTop,
    listeners: {
      // Only the mouse counts, because a scrolling touch fires no leave event.
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
