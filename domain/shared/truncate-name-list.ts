const SHOWN_MAX = 3

/**
 * Returns the parameters of an error message that lists names. `names` contains the first few
 * names, and `more` is the number of names that are omitted.
 */
export function truncateNames(names: readonly string[]): { names: string; more?: number } {
  const shown = names.slice(0, SHOWN_MAX).join(', ')
  const more = names.length - SHOWN_MAX
  return more > 0 ? { names: shown, more } : { names: shown }
}
