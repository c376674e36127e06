/** Matches characters that folding may change: upper-case ASCII and all non-ASCII characters. */
const FOLDS = /[A-Z\u0080-\uffff]/

/**
 * Returns the folded form of a name. Parsers that ignore case, such as Go's `encoding/json`, treat
 * names with the same folded form as equal, so both names may set the same field. The function
 * applies Unicode's simple folding (U+017F to `s`, U+212A to `k`). It also folds `ß` to `ss`, so
 * that slightly more names are refused than necessary.
 */
export const foldedName = (name: string): string =>
  FOLDS.test(name) ? name.toLowerCase().toUpperCase().toLowerCase() : name

/** The names of the members that the gateway reads or writes, by the folded name of each. */
export type NamesByFoldedName = ReadonlyMap<string, string>

export const namesByFoldedName = (names: Iterable<string>): NamesByFoldedName =>
  new Map([...names].map((name) => [foldedName(name), name]))
