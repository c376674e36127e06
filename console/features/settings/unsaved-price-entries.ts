import { isSameNumber } from '#console/ui/quota/exact-decimal.ts'
import type { PlannedEntry } from '#write-api/contract/options.ts'
import type { OptionChange } from './compare-and-merge-option-changes.ts'
import { groupPairName, readNested } from './group-rows.ts'
import { type JsonMap, readJsonMap } from './json-map.ts'

const MAPS: ReadonlySet<string> = new Set([
  ...['ModelPrice', 'ModelRatio', 'CompletionRatio', 'CacheRatio', 'CreateCacheRatio'],
  ...['ImageRatio', 'AudioRatio', 'AudioCompletionRatio', 'ImageCompletionRatio'],
  ...['ToolPrice', 'GroupRatio'],
])

/** Reports whether an option contains prices. Only changes of these options can be scheduled. */
export const isPriceOption = (key: string): boolean =>
  MAPS.has(key) || key === 'GroupGroupRatio' || key.startsWith('fallback_')

/**
 * Splits the unsaved changes of price options into entries, one for each changed model, group or
 * pair of groups. An option with a single value becomes one entry. Returns null if the text of an
 * option is malformed.
 */
export function unsavedPriceEntries(changes: readonly OptionChange[]): PlannedEntry[] | null {
  const entries: PlannedEntry[] = []
  for (const { key, before, after } of changes) {
    if (!isPriceOption(key)) continue
    const [old, fresh] = [entriesOf(key, before), entriesOf(key, after)]
    if (fresh === null) return null
    for (const [name, value] of fresh) {
      const oldValue = old?.get(name) ?? ''
      if (oldValue !== value && !isSameNumber(oldValue, value))
        entries.push({ option: key, name, value })
    }
    for (const name of old?.keys() ?? []) {
      if (!fresh.has(name)) entries.push({ option: key, name, value: null })
    }
  }
  return entries
}

/**
 * Returns the entries of an option, or null if its text is malformed. An option with a single value
 * has one entry, whose name is empty.
 */
function entriesOf(key: string, text: string): JsonMap | null {
  if (MAPS.has(key)) return readJsonMap(text)
  if (key !== 'GroupGroupRatio') return new Map(text.trim() === '' ? [] : [['', text.trim()]])
  const nested = readNested(text)
  if (nested === null) return null
  return new Map(
    [...nested].flatMap(([outer, ratios]) =>
      [...ratios].map(([inner, ratio]) => [groupPairName(outer, inner), ratio] as const),
    ),
  )
}
