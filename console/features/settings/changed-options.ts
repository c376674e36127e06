import { isSameNumber } from '#console/ui/quota/exact-decimal.ts'
import { compactJson } from './json-map.ts'

export type OptionChange = { key: string; before: string; after: string }
type Texts = ReadonlyMap<string, string>

export function changedOptions(baseline: Texts, drafts: Texts): OptionChange[] {
  return [...drafts]
    .map(([key, after]) => ({ key, before: baseline.get(key) ?? '', after }))
    .filter(({ before, after }) => !isSameValue(before, after))
}

/**
 * Reports whether two texts of an option have the same value. White space in JSON and trailing
 * zeros of numbers make no difference.
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
