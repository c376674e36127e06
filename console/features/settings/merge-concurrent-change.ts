import type { OptionChange } from './changed-options.ts'
import { type JsonMap, readJsonMap, withEntry, writeJsonMap } from './json-map.ts'

/**
 * Merges this user's change, from `before` to `after`, into `theirs`, the text that another user
 * has saved in the meantime. `hasConflict` is true if both users changed the same entry.
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
 * Parses the texts as maps of numbers. If that fails, parses them as maps of texts. Returns an
 * empty list if both fail.
 */
function mapsOf(...texts: string[]): JsonMap[] {
  for (const kind of ['number', 'text'] as const) {
    const maps = texts.map((text) => readJsonMap(text, kind))
    if (maps.every((map) => map !== null)) return maps
  }
  return []
}
