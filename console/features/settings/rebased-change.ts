import { type JsonMap, readJsonMap, withEntry, writeJsonMap } from './json-map.ts'
import type { OptionChange } from './option-changes.ts'

/** `isClear` is false if the user and another user (`theirs`) changed the same entry. */
export function rebasedChange(
  { before, after }: Pick<OptionChange, 'before' | 'after'>,
  theirs: string,
): { text: string; isClear: boolean } {
  const [old, mine, other] = mapsOf(before, after, theirs)
  if (old === undefined || mine === undefined || other === undefined) {
    return { text: after, isClear: false }
  }
  let merged: JsonMap = other
  let isClear = true
  for (const name of new Set([...old.keys(), ...mine.keys()])) {
    const [was, is, theirsIs] = [old.get(name), mine.get(name), other.get(name)]
    if (was === is) continue
    if (theirsIs !== was && theirsIs !== is) isClear = false
    merged = withEntry(merged, name, is ?? null)
  }
  return { text: writeJsonMap(merged), isClear }
}

/** Returns an empty list unless all texts are maps of numbers, or all are maps of texts. */
function mapsOf(...texts: string[]): JsonMap[] {
  for (const kind of ['number', 'text'] as const) {
    const maps = texts.map((text) => readJsonMap(text, kind))
    if (maps.every((map) => map !== null)) return maps
  }
  return []
}
