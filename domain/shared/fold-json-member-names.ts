/** Matches characters that folding may change: upper-case ASCII and all non-ASCII characters. */
const FOLDS = /[A-Z\u0080-\uffff]/

/**
 * Returns the folded form of the name of a JSON member. Names that differ only in letter case have
 * the same folded form. Some parsers, such as Go's `encoding/json`, treat names with the same
 * folded form as one field. Unicode's simple folding applies (U+017F to `s`, U+212A to `k`). `ß`
 * also becomes `ss`. Parsers do not change `ß`, so slightly more names are refused than necessary.
 */
export const foldedName = (name: string): string =>
  FOLDS.test(name) ? name.toLowerCase().toUpperCase().toLowerCase() : name

/** The names of the members that the gateway reads or writes, by folded name. */
export type NamesByFoldedName = ReadonlyMap<string, string>

export const namesByFoldedName = (names: Iterable<string>): NamesByFoldedName =>
  new Map([...names].map((name) => [foldedName(name), name]))
