const SHOWN_MAX = 3

/** Parameters of an error that names things: the first few, and how many `more` there are. */
export function truncateNames(names: readonly string[]): { names: string; more?: number } {
  const shown = names.slice(0, SHOWN_MAX).join(', ')
  const more = names.length - SHOWN_MAX
  return more > 0 ? { names: shown, more } : { names: shown }
}
