import { isSameJson } from '../shared/lossless-json.ts'
import { storedBytes, TEXT_BYTES_MAX } from './check-option.ts'
import type { OptionSet } from './events.ts'
import { OPTIONS, optionValue } from './option-registry.ts'
import { isJsonType } from './option-type.ts'

type Values = ReadonlyMap<string, string>
type Texts = readonly (readonly [key: string, text: string])[]

/**
 * Returns one event for each option whose value changes to the value in `texts`. The texts must be
 * valid.
 */
export const setEvents = (values: Values, texts: Texts): readonly OptionSet[] =>
  texts.flatMap(([key, value]) => {
    const before = optionValue(values, key)
    if (isSame(key, value, before)) return []
    return [{ type: 'OptionSet', v: 2, data: { key, value, before: storedValue(before) } }]
  })

/**
 * Reports whether two texts of an option are equal. Differences in JSON white space are ignored,
 * because a form may send indented JSON.
 */
export function isSame(key: string, value: string, before: string): boolean {
  const type = OPTIONS.get(key)?.type
  if (type === undefined || !isJsonType(type)) return value === before
  return isSameJson(value, before)
}

/**
 * Returns the previous text, or null if the previous text is too long for the event. The event also
 * contains the new text. Earlier releases may have accepted longer texts.
 */
const storedValue = (before: string): string | null =>
  storedBytes(before) > TEXT_BYTES_MAX ? null : before

/** The key of the option with the fallback price per call. */
export const FALLBACK_PRICE_KEY = 'fallback_single_price'

/** The two fallback ratios. A fallback price per token applies only if both ratios are set. */
export const FALLBACK_RATIO_KEYS: readonly string[] = [
  'fallback_input_ratio',
  'fallback_completion_ratio',
]

/**
 * Returns the new text of the option, and an empty text for each option that conflicts with the new
 * text. A fallback price per call clears both fallback ratios. A fallback ratio clears the fallback
 * price per call.
 */
export function withoutConflicting(key: string, value: string): Texts {
  if (value === '') return [[key, value]]
  if (key === FALLBACK_PRICE_KEY) {
    return [[key, value], ...FALLBACK_RATIO_KEYS.map((ratioKey) => [ratioKey, ''] as const)]
  }
  return FALLBACK_RATIO_KEYS.includes(key)
    ? [
        [key, value],
        [FALLBACK_PRICE_KEY, ''],
      ]
    : [[key, value]]
}
