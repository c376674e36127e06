import { isPriceOption } from '../pricing/compare-price-options.ts'
import { decimalText, parseDecimal } from '../pricing/decimal.ts'
import { codedError } from '../shared/coded-error.ts'
import { isFallbackSwitch, nameErrorOf, withPlanned } from './apply-planned-price-entries.ts'
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

/** Checks that entries are valid and unique. Returns them in the form in which they are stored. */
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

/** Applies the scheduled entries to the current prices. Other prices are not changed. */
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
 * Returns an error if only one of the two fallback ratios is set. One ratio alone is not a price,
 * so models without another price could not be called.
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
