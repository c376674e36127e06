import type { ReactElement } from 'react'
import PATHS from './icon-paths.json'

/** Outlines on a 16 px grid, drawn for this console, with strokes in the text colour. */
export type IconName = keyof typeof PATHS

/** A decoration hidden from assistive technology: the text beside it must suffice. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactElement {
  return (
    <svg className="tg-icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
