/** Anything but lower-case ASCII: only such names can be equal to another one after folding. */
const FOLDS = /[A-Z\u0080-\uffff]/

/**
 * The name as readers see it that ignore case, such as Go's `encoding/json`: names with the same
 * folded name may set the same field. It is Unicode's simple folding, so that U+017F is an `s` and
 * U+212A a `k`, and slightly more than that (`ß` is `ss`), which only refuses more.
 */
export const foldedName = (name: string): string =>
  FOLDS.test(name) ? name.toLowerCase().toUpperCase().toLowerCase() : name

/** Names that the gateway reads or writes, by their folded names. */
export type KnownNames = ReadonlyMap<string, string>

export const knownNames = (names: Iterable<string>): KnownNames =>
  new Map([...names].map((name) => [foldedName(name), name]))
