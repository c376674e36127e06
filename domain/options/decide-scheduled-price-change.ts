import {
  FALLBACK_FLAG,
  isPriceOption,
  PRICE_MAPS,
  pairOf,
} from '../pricing/compare-price-options.ts'
import { decimalText, parseDecimal } from '../pricing/decimal.ts'
import { ratiosText } from '../pricing/default-ratios.ts'
import { readNestedRatios, readRatios } from '../pricing/read-ratios.ts'
import { codedError } from '../shared/coded-error.ts'
import type {
  ApplyPriceChange,
  OptionsError,
  OptionsState,
  ScheduleCommand,
  SchedulePriceChange,
} from './commands.ts'
import type { OptionsEvent, PlannedEntry } from './events.ts'
import { checkOption, optionValue } from './option-registry.ts'
import {
  FALLBACK_PRICE_KEY,
  FALLBACK_RATIO_KEYS,
  setEvents,
  withoutConflicting,
} from './set-options.ts'

type Outcome = readonly OptionsEvent[] | OptionsError

export const PLANNED_MAX = 100
export const PLANNED_ENTRIES_MAX = 1_000
const PLANNED_DAYS_MAX = 366

const DAY_MS = 86_400_000

export function decideSchedule(command: ScheduleCommand, state: OptionsState): Outcome {
  switch (command.type) {
    case 'SchedulePriceChange':
      return schedule(command, state)
    case 'CancelPriceChange':
      return state.planned.has(command.id)
        ? [{ type: 'PriceChangeCancelled', v: 1, data: { id: command.id } }]
        : codedError('PriceChangeUnknown')
    case 'ApplyPriceChange':
      return apply(command, state)
  }
}

function schedule(command: SchedulePriceChange, state: OptionsState): Outcome {
  const { at, now, changes, replaces } = command
  if (replaces !== undefined && !state.planned.has(replaces))
    return codedError('PriceChangeUnknown')
  if (changes.length === 0) return codedError('PriceChangeEmpty')
  if (changes.length > PLANNED_ENTRIES_MAX) {
    return codedError('TooManyPriceChanges', { limit: PLANNED_ENTRIES_MAX })
  }
  if (replaces === undefined && state.planned.size >= PLANNED_MAX) {
    return codedError('TooManyPriceChanges', { limit: PLANNED_MAX })
  }
  if (at <= now) return codedError('PriceChangeNotAhead')
  if (at > now + PLANNED_DAYS_MAX * DAY_MS) {
    return codedError('PriceChangeTooFar', { days: PLANNED_DAYS_MAX })
  }
  const entries = checkedEntries(changes)
  if ('code' in entries) return entries
  const conflict = fallbackConflictIn(entries)
  if (conflict !== null) return conflict
  const texts = textsOf(entries, state)
  if (!Array.isArray(texts)) return texts
  const id = state.lastPlannedId + 1
  const planned = {
    type: 'PriceChangeScheduled',
    v: 1,
    data: { id, at, changes: entries },
  } as const
  if (replaces === undefined) return [planned]
  return [{ type: 'PriceChangeCancelled', v: 1, data: { id: replaces } }, planned]
}

/**
 * Checks that entries are valid and unique. Returns the entries in their stored form, or an error.
 */
function checkedEntries(changes: readonly PlannedEntry[]): readonly PlannedEntry[] | OptionsError {
  const entries: PlannedEntry[] = []
  const named = new Set<string>()
  for (const { option, name, value } of changes) {
    if (!isPriceOption(option)) return codedError('UnknownOption', { key: option.slice(0, 200) })
    const error = nameErrorOf(option, name)
    if (error !== null) return codedError('InvalidOption', { key: option, error })
    const entry = JSON.stringify([option, name])
    if (named.has(entry)) return codedError('InvalidOption', twice(option, name))
    named.add(entry)
    if (isFallbackSwitch(option)) {
      entries.push({ option, name, value })
      continue
    }
    const decimal = value === null ? null : parseDecimal(value)
    if (value !== null && decimal === null) {
      return codedError('InvalidOption', {
        key: option,
        error: 'not-ratio',
        name: name.slice(0, 100),
      })
    }
    entries.push({ option, name, value: decimal === null ? null : decimalText(decimal) })
  }
  return entries
}

/** Returns an error if the entries set both a fallback price per call and fallback ratios. */
function fallbackConflictIn(entries: readonly PlannedEntry[]): OptionsError | null {
  const set = entries.flatMap(({ option, value }) => (value === null ? [] : [option]))
  const pair = FALLBACK_RATIO_KEYS.filter((option) => set.includes(option))
  if (pair.length === 0 || !set.includes(FALLBACK_PRICE_KEY)) return null
  return codedError('InvalidOption', {
    key: FALLBACK_PRICE_KEY,
    error: 'rivals',
    name: pair.join(', '),
  })
}

const twice = (key: string, name: string) =>
  ({ key, error: 'duplicate-key', name: name.slice(0, 100) }) as const

/**
 * Applies the scheduled entries to the current prices. Other prices are not changed. If an option
 * would become invalid, the outcome is `PriceChangeFailed`.
 */
function apply({ id, now }: ApplyPriceChange, state: OptionsState): Outcome {
  const planned = state.planned.get(id)
  if (planned === undefined) return []
  if (planned.at > now) return codedError('PriceChangeNotDue')
  const texts = textsOf(planned.changes, state)
  if (!Array.isArray(texts)) {
    const { key = '', error = '' } = texts.params
    const data = { id, option: String(key), fault: String(error) }
    return [{ type: 'PriceChangeFailed', v: 1, data }]
  }
  return [{ type: 'PriceChangeApplied', v: 1, data: { id } }, ...setEvents(state.values, texts)]
}

type Texts = [key: string, text: string][]

function textsOf(entries: readonly PlannedEntry[], state: OptionsState): Texts | OptionsError {
  const texts = new Map<string, string>()
  for (const [option, planned] of Map.groupBy(entries, (entry) => entry.option)) {
    const before = optionValue(state.values, option)
    const checked = checkOption(option, withPlanned(option, before, planned))
    if ('code' in checked) return checked
    // An entry of a conflicting option has already cleared this option.
    if (checked.value === '' && texts.has(option)) continue
    for (const [key, text] of withoutConflicting(option, checked.value)) texts.set(key, text)
  }
  return missingFallbackRatio(texts, state) ?? [...texts]
}

/**
 * Returns an error if the change sets or clears a fallback ratio and leaves only one of the two
 * fallback ratios set. One ratio alone is not a price, so models without another price could not be
 * called.
 */
function missingFallbackRatio(
  texts: ReadonlyMap<string, string>,
  state: OptionsState,
): OptionsError | null {
  const missing = FALLBACK_RATIO_KEYS.filter(
    (key) => (texts.get(key) ?? optionValue(state.values, key)) === '',
  )
  const [key] = missing
  if (key === undefined || missing.length > 1 || !FALLBACK_RATIO_KEYS.some((one) => texts.has(one)))
    return null
  return codedError('InvalidOption', { key, error: 'entry-missing', name: key })
}

type Planned = readonly PlannedEntry[]
type Ratios = ReadonlyMap<string, string>

/**
 * Reports whether the option is the switch for fallback prices. The value of the switch is a flag,
 * not a decimal.
 */
const isFallbackSwitch = (option: string): boolean => option === FALLBACK_FLAG

/**
 * Checks the name of an entry of a price option. Returns null if the name is valid. The name of an
 * entry of `GroupGroupRatio` consists of two groups (`vip > default`). An entry of an option with a
 * single value has no name.
 */
function nameErrorOf(option: string, name: string): 'name-missing' | 'name-needless' | null {
  if (option === 'GroupGroupRatio') return pairOf(name) === null ? 'name-missing' : null
  return PRICE_MAPS.has(option) || name === '' ? null : 'name-needless'
}

/**
 * Returns the option's text with the scheduled entries. If a JSON text already contains these
 * entries, the text is returned unchanged.
 */
function withPlanned(option: string, text: string, planned: Planned): string {
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
