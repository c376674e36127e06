import type { ReactElement } from 'react'
import PATHS from './icon-paths.json'

/** The icons are outlines on a 16 px grid with strokes in the text color. */
export type IconName = keyof typeof PATHS

/** A decorative icon, hidden from assistive technology; its meaning must be in the text too. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactElement {
  return (
    <svg className="tg-icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
