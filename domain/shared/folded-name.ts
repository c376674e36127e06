/** Everything but lower-case ASCII. Other names are equal to no other name after folding. */
const FOLDS = /[A-Z\u0080-\uffff]/

/**
 * The name as seen by readers that ignore case, such as Go's `encoding/json`: names with the same
 * folded name may set the same field. This is Unicode's simple folding, in which U+017F is an `s`
 * and U+212A a `k`, and slightly more (`ß` is `ss`), which only refuses more names.
 */
export const foldedName = (name: string): string =>
  FOLDS.test(name) ? name.toLowerCase().toUpperCase().toLowerCase() : name

/** Names that the gateway reads or writes, by their folded names. */
export type NamesByFoldedName = ReadonlyMap<string, string>

export const namesByFoldedName = (names: Iterable<string>): NamesByFoldedName =>
  new Map([...names].map((name) => [foldedName(name), name]))
