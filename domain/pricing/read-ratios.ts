import { type ExactJson, isNumber, isObject, parseJsonText } from '../shared/lossless-json.ts'
import { type Decimal, decimalText, parseDecimal } from './decimal.ts'
import type { DecimalText } from './price-snapshot.ts'

/**
 * Ratios by name. The type is a Map, because a plain object would return a value for names such as
 * `constructor`.
 */
export type RatioMap = ReadonlyMap<string, DecimalText>

/** Returns the decimal in a JSON number or string, or null if the value is not a decimal. */
export function jsonDecimal(value: ExactJson): Decimal | null {
  if (typeof value === 'string') return parseDecimal(value)
  return isNumber(value) ? parseDecimal(value.numberText) : null
}

/** Returns the ratios in the JSON text of an option, without invalid entries. */
export function readRatios(text: string): RatioMap {
  const parsed = parseJsonText(text)
  return 'error' in parsed ? new Map() : ratiosOf(parsed.value)
}

/** Returns the ratios in two-level JSON such as `{"vip": {"default": 0.9}}`. */
export function readNestedRatios(text: string): ReadonlyMap<string, RatioMap> {
  const parsed = parseJsonText(text)
  if ('error' in parsed || !isObject(parsed.value)) return new Map()
  return new Map([...parsed.value].map(([name, value]) => [name, ratiosOf(value)]))
}

function ratiosOf(value: ExactJson): RatioMap {
  if (!isObject(value)) return new Map()
  return new Map(
    [...value].flatMap(([name, member]) => {
      const ratio = jsonDecimal(member)
      return ratio === null ? [] : [[name, decimalText(ratio)] as const]
    }),
  )
}
