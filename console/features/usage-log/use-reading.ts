import { type FocusEvent, type PointerEvent, useState } from 'react'

export type Reading = {
  /** True while the list is scrolled or hovered or has the keyboard focus. */
  readonly isReading: boolean
  readonly onAtTop: (isAtTop: boolean) => void
  readonly listeners: {
    readonly onPointerEnter: (event: PointerEvent) => void
    readonly onPointerLeave: () => void
    readonly onFocus: () => void
    readonly onBlur: (event: FocusEvent) => void
  }
}

/** Returns whether the user is reading the list. The rows must not move in the meantime. */
export function useReading(): Reading {
  const [isAtTop, setAtTop] = useState(true)
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  return {
    isReading: !isAtTop || isHovered || isFocused,
    onAtTop: setAtTop,
    listeners: {
      // A touch that scrolls fires enter events without leave events, so only a mouse counts.
      onPointerEnter: (event) => setHovered(event.pointerType === 'mouse'),
      onPointerLeave: () => setHovered(false),
      onFocus: () => setFocused(true),
      onBlur: (event) => {
        const next = event.relatedTarget
        if (!(next instanceof Node && event.currentTarget.contains(next))) setFocused(false)
      },
    },
  }
}
