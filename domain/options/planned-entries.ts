import { ratiosText } from '../pricing/default-ratios.ts'
import { readRatios } from '../pricing/ratio-map.ts'
import type { PlannedEntry } from './events.ts'

/** The text with the planned entries in their place; untouched where they are so already. */
export function withPlanned(text: string, planned: readonly PlannedEntry[]): string {
  const entries = new Map(readRatios(text))
  const isNews = planned.some(({ name, value }) => (entries.get(name) ?? null) !== value)
  for (const { name, value } of planned) {
    if (value === null) entries.delete(name)
    else entries.set(name, value)
  }
  return isNews ? ratiosText(entries) : text
}
