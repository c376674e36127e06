import { isSameJson } from '../shared/json-text.ts'
import { storedBytes, TEXT_BYTES_MAX } from './check-option.ts'
import type { OptionSet } from './events.ts'
import { isJsonType } from './option-type.ts'
import { OPTIONS, optionValue } from './registry.ts'

type Values = ReadonlyMap<string, string>
type Texts = readonly (readonly [key: string, text: string])[]

/** The events that set the checked texts; unchanged options have none. */
export const setEvents = (values: Values, texts: Texts): readonly OptionSet[] =>
  texts.flatMap(([key, value]) => {
    const before = optionValue(values, key)
    if (isSame(key, value, before)) return []
    return [{ type: 'OptionSet', v: 2, data: { key, value, before: kept(before) } }]
  })

/** JSON may come back as it was displayed, with other white space. */
export function isSame(key: string, value: string, before: string): boolean {
  const type = OPTIONS.get(key)?.type
  if (type === undefined || !isJsonType(type)) return value === before
  return isSameJson(value, before)
}

/** A text accepted by an earlier release may be too long to occur twice in one event. */
const kept = (before: string): string | null =>
  storedBytes(before) > TEXT_BYTES_MAX ? null : before

/** Sets a price per call. */
export const SINGLE = 'fallback_single_price'

/** These two set a price only together. */
export const PAIR: readonly string[] = ['fallback_input_ratio', 'fallback_completion_ratio']

/**
 * A fallback price is a price per call or a pair of ratios, never both. Setting one clears the
 * other, in whatever order a form sends them.
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
