import PATHS from './icon-paths.json'

/** The icons are outlines on a grid of 16 px. */
export type IconName = keyof typeof PATHS

/** Hidden from screen readers, so the text beside the icon must have the same meaning. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg className="tg-icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
