import type { OptionChange } from './changed-options.ts'
import { type JsonMap, readJsonMap, withEntry, writeJsonMap } from './json-map.ts'

/**
 * Merges two changes of an option. This user has changed its text from `before` to `after`, and
 * another user has meanwhile saved `theirs`. `hasConflict` is true if both users changed the same
 * entry, or if the texts have no entries that can be merged.
 */
export function mergeChange(
  { before, after }: Pick<OptionChange, 'before' | 'after'>,
  theirs: string,
): { text: string; hasConflict: boolean } {
  const [old, mine, other] = mapsOf(before, after, theirs)
  if (old === undefined || mine === undefined || other === undefined) {
    return { text: after, hasConflict: true }
  }
  let merged: JsonMap = other
  let hasConflict = false
  for (const name of new Set([...old.keys(), ...mine.keys()])) {
    const [was, is, theirsIs] = [old.get(name), mine.get(name), other.get(name)]
    if (was === is) continue
    if (theirsIs !== was && theirsIs !== is) hasConflict = true
    merged = withEntry(merged, name, is ?? null)
  }
  return { text: writeJsonMap(merged), hasConflict }
}

/**
 * Parses the JSON texts as maps of numbers or, if one of them contains other values, as maps of
 * texts. Returns an empty list if neither is possible.
 */
function mapsOf(...texts: string[]): JsonMap[] {
  for (const kind of ['number', 'text'] as const) {
    const maps = texts.map((text) => readJsonMap(text, kind))
    if (maps.every((map) => map !== null)) return maps
  }
  return []
}
