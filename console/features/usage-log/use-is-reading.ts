import { type FocusEvent, type PointerEvent, useState } from 'react'

export type ReadingState = ReturnType<typeof useIsReading>

/** While the user is reading the list, the rows must not move. */
export function useIsReading() {
  const [isAtTop, setAtTop] = useState(true)
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  return {
    isReading: !isAtTop || isHovered || isFocused,
    onAtTop: setAtTop,
    listeners: {
      // A scrolling touch fires enter events without leave events.
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
