import PATHS from './icon-paths.json'

/** The names of the icons, which are outlines on a grid of 16 × 16 pixels. */
export type IconName = keyof typeof PATHS

/**
 * An icon, which screen readers ignore. The text beside it or the label of its button must
 * therefore say the same as the icon.
 */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg className="tg-icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
