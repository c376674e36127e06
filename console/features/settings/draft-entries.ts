import { isSameNumber } from '#console/ui/exact-decimal.ts'
import type { PlannedEntry } from '#write-api/contract/option.ts'
import { readJsonMap } from './json-map.ts'
import type { OptionChange } from './option-changes.ts'

/** Options whose entries can be scheduled one by one. */
const PLANNABLE: ReadonlySet<string> = new Set([
  'ModelPrice',
  'ModelRatio',
  'CompletionRatio',
  'CacheRatio',
  'CreateCacheRatio',
  'ImageRatio',
  'AudioRatio',
  'AudioCompletionRatio',
  'GroupRatio',
])

export const isPlannable = (key: string): boolean => PLANNABLE.has(key)

/** Options that a draft price list is made of. */
export const isPriceOption = (key: string): boolean =>
  PLANNABLE.has(key) || key === 'GroupGroupRatio' || key.startsWith('fallback_')

/** What drafts change of prices, name by name; null while one of them is no map of numbers. */
export function draftEntries(changes: readonly OptionChange[]): PlannedEntry[] | null {
  const entries: PlannedEntry[] = []
  for (const { key, before, after } of changes) {
    if (!isPlannable(key)) continue
    const [old, fresh] = [readJsonMap(before), readJsonMap(after)]
    if (fresh === null) return null
    for (const [name, value] of fresh) {
      if (!isSameNumber(old?.get(name) ?? '', value)) entries.push({ option: key, name, value })
    }
    for (const name of old?.keys() ?? []) {
      if (!fresh.has(name)) entries.push({ option: key, name, value: null })
    }
  }
  return entries
}
