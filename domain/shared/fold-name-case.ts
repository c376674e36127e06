/** Matches characters that folding may change: upper-case ASCII and all non-ASCII characters. */
const FOLDS = /[A-Z\u0080-\uffff]/

/**
 * Returns the folded form of a name. Parsers that ignore case, such as Go's `encoding/json`, let
 * names with the same folded form set the same field. Applies Unicode's simple folding (U+017F to
 * `s`, U+212A to `k`), and `ß` to `ss`, so that slightly more names are refused than necessary.
 */
export const foldedName = (name: string): string =>
  FOLDS.test(name) ? name.toLowerCase().toUpperCase().toLowerCase() : name

/** The names that the gateway reads or writes, by folded name. */
export type NamesByFoldedName = ReadonlyMap<string, string>

export const namesByFoldedName = (names: Iterable<string>): NamesByFoldedName =>
  new Map([...names].map((name) => [foldedName(name), name]))
