/** Matches characters that folding may change: upper-case ASCII and all non-ASCII characters. */
const FOLDS = /[A-Z\u0080-\uffff]/

/**
 * Returns the name as readers that ignore case see it, such as Go's `encoding/json`. Names with the
 * same folded name may set the same field. The function applies Unicode's simple folding (U+017F is
 * an `s`, U+212A a `k`). It also folds `ß` to `ss`, so that slightly more names are refused than
 * necessary.
 */
export const foldedName = (name: string): string =>
  FOLDS.test(name) ? name.toLowerCase().toUpperCase().toLowerCase() : name

/** Names of members that the gateway reads or writes, by their folded names. */
export type NamesByFoldedName = ReadonlyMap<string, string>

export const namesByFoldedName = (names: Iterable<string>): NamesByFoldedName =>
  new Map([...names].map((name) => [foldedName(name), name]))
