import type { ReactElement } from 'react'
import PATHS from './icon-paths.json'

/** Outlines on a 16 px grid, drawn for this console: strokes only, coloured by the text. */
export type IconName = keyof typeof PATHS

/** An ornament: hidden from assistive technology, so the words beside it must say it all. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactElement {
  return (
    <svg className="tg-icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
