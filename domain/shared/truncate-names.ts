const SHOWN_MAX = 3

/**
 * The parameters of an error that lists names: the first few, and in `more` the number of the
 * others.
 */
export function truncateNames(names: readonly string[]): { names: string; more?: number } {
  const shown = names.slice(0, SHOWN_MAX).join(', ')
  const more = names.length - SHOWN_MAX
  return more > 0 ? { names: shown, more } : { names: shown }
}
