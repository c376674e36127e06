import { isSameNumber } from '#console/ui/quota/exact-decimal.ts'
import { compactJson, type JsonMap, readJsonMap, withEntry, writeJsonMap } from './json-map.ts'

export type OptionChange = { key: string; before: string; after: string }
type Texts = ReadonlyMap<string, string>

export function changedOptions(baseline: Texts, drafts: Texts): OptionChange[] {
  return [...drafts]
    .map(([key, after]) => ({ key, before: baseline.get(key) ?? '', after }))
    .filter(({ before, after }) => !isSameValue(before, after))
}

/**
 * Reports whether two texts of an option have the same value. White space in JSON is ignored, and
 * so is the notation of a number, such as trailing zeros.
 */
function isSameValue(before: string, after: string): boolean {
  if (before === after || isSameNumber(before, after)) return true
  return (
    isObjectOrArray(before) && isObjectOrArray(after) && compactJson(before) === compactJson(after)
  )
}

const isObjectOrArray = (text: string): boolean => /^\s*[[{]/.test(text)

export function changedLines(
  before: string,
  after: string,
): { removed: string[]; added: string[] } {
  const lines = (text: string) => text.split('\n').map((line) => line.replace(/,\s*$/, ''))
  const [beforeLines, afterLines] = [lines(before), lines(after)]
  const [beforeSet, afterSet] = [new Set(beforeLines), new Set(afterLines)]
  return {
    removed: beforeLines.filter((line) => !afterSet.has(line)),
    added: afterLines.filter((line) => !beforeSet.has(line)),
  }
}

/**
 * Merges two changes of an option. This user has changed the option's text from `before` to
 * `after`, and another user has saved `theirs` in the meantime. `hasConflict` is true if both users
 * changed the same entry to different values, or if the texts can't be split into entries.
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
 * Parses the JSON texts as maps of numbers. If a text contains values other than numbers, parses
 * all texts as maps of texts. Returns an empty list if a text is neither kind of map.
 */
function mapsOf(...texts: string[]): JsonMap[] {
  for (const kind of ['number', 'text'] as const) {
    const maps = texts.map((text) => readJsonMap(text, kind))
    if (maps.every((map) => map !== null)) return maps
  }
  return []
}
