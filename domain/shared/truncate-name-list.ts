const SHOWN_MAX = 3

/** Shortens a list of names for an error message. `more` is the number of omitted names. */
export function truncateNames(names: readonly string[]): { names: string; more?: number } {
  const listed = names.slice(0, SHOWN_MAX).join(', ')
  const more = names.length - SHOWN_MAX
  return more > 0 ? { names: listed, more } : { names: listed }
}
