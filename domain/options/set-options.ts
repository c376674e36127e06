import { isSameJson } from '../shared/json-text.ts'
import { storedBytes, TEXT_BYTES_MAX } from './check-option.ts'
import type { OptionSet } from './events.ts'
import { isJsonType } from './option-type.ts'
import { OPTIONS, optionValue } from './registry.ts'

type Values = ReadonlyMap<string, string>
type Texts = readonly (readonly [key: string, text: string])[]

/** Returns the events that set the checked texts. Unchanged options have no event. */
export const setEvents = (values: Values, texts: Texts): readonly OptionSet[] =>
  texts.flatMap(([key, value]) => {
    const before = optionValue(values, key)
    if (isSame(key, value, before)) return []
    return [{ type: 'OptionSet', v: 2, data: { key, value, before: kept(before) } }]
  })

/**
 * Returns whether two texts of an option are equal. White space in JSON is ignored, because forms
 * may send it as it was displayed.
 */
export function isSame(key: string, value: string, before: string): boolean {
  const type = OPTIONS.get(key)?.type
  if (type === undefined || !isJsonType(type)) return value === before
  return isSameJson(value, before)
}

/**
 * Returns the previous text for an event, or null if the text is too long. A text that an earlier
 * release accepted may not fit into one event together with the new text.
 */
const kept = (before: string): string | null =>
  storedBytes(before) > TEXT_BYTES_MAX ? null : before

/** The option that sets a fallback price per call. */
export const SINGLE = 'fallback_single_price'

/** The two options that set a fallback price only together. */
export const PAIR: readonly string[] = ['fallback_input_ratio', 'fallback_completion_ratio']

/**
 * Returns the text to set and the texts to clear. A fallback price is either a price per call or a
 * pair of ratios. Setting one of them clears the other, regardless of the order in which a client
 * sets them.
 */
export function withoutConflicting(key: string, value: string): Texts {
  if (value === '') return [[key, value]]
  if (key === SINGLE) {
    return [[key, value], ...PAIR.map((rival) => [rival, ''] as const)]
  }
  return PAIR.includes(key)
    ? [
        [key, value],
        [SINGLE, ''],
      ]
    : [[key, value]]
}
