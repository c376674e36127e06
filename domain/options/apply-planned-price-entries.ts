import { FALLBACK_FLAG, PRICE_MAPS, pairOf } from '../pricing/compare-price-options.ts'
import { ratiosText } from '../pricing/default-ratios.ts'
import { readNestedRatios, readRatios } from '../pricing/read-ratios.ts'
import type { PlannedEntry } from './events.ts'

type Planned = readonly PlannedEntry[]
type Ratios = ReadonlyMap<string, string>

/** Reports whether the option switches fallback prices on or off. Its value is not a decimal. */
export const isFallbackSwitch = (option: string): boolean => option === FALLBACK_FLAG

/**
 * Checks the name of an entry of a price option. Returns null if the name is valid. An entry of
 * `GroupGroupRatio` is named by two groups (`vip > default`). An entry of an option with a single
 * value has no name.
 */
export function nameErrorOf(option: string, name: string): 'name-missing' | 'name-needless' | null {
  if (option === 'GroupGroupRatio') return pairOf(name) === null ? 'name-missing' : null
  return PRICE_MAPS.has(option) || name === '' ? null : 'name-needless'
}

/**
 * Returns the option's text with the scheduled entries. A text that already contains the entries is
 * returned unchanged.
 */
export function withPlanned(option: string, text: string, planned: Planned): string {
  if (option === 'GroupGroupRatio') return withSpecials(text, planned)
  if (PRICE_MAPS.has(option)) return withRatios(text, planned)
  return planned.at(-1)?.value ?? (isFallbackSwitch(option) ? 'false' : '')
}

function withRatios(text: string, planned: Planned): string {
  const entries = new Map(readRatios(text))
  return changesAny(entries, planned) ? ratiosText(changed(entries, planned)) : text
}

function withSpecials(text: string, planned: Planned): string {
  const nested = new Map(readNestedRatios(text))
  let isChanged = false
  for (const { name, value } of planned) {
    const [outer, inner] = pairOf(name) ?? ['', '']
    const before = nested.get(outer) ?? new Map()
    const entry = [{ option: '', name: inner, value }]
    if (!changesAny(before, entry)) continue
    isChanged = true
    const after = changed(before, entry)
    if (after.size > 0) nested.set(outer, after)
    else nested.delete(outer)
  }
  return isChanged ? nestedText(nested) : text
}

const changesAny = (entries: Ratios, planned: Planned): boolean =>
  planned.some(({ name, value }) => (entries.get(name) ?? null) !== value)

function changed(entries: Ratios, planned: Planned): Ratios {
  const after = new Map(entries)
  for (const { name, value } of planned) {
    if (value === null) after.delete(name)
    else after.set(name, value)
  }
  return after
}

function nestedText(nested: ReadonlyMap<string, Ratios>): string {
  const members = [...nested].map(
    ([name, ratios]) => `  ${JSON.stringify(name)}: ${ratiosText(ratios).replaceAll('\n', '\n  ')}`,
  )
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n}`
}
