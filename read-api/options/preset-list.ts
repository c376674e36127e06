import { isNumber, isObject, parseJsonText } from '#domain/shared/json-text.ts'

export const NAMES_MAX = 5_000
const NAME_LENGTH_MAX = 256
/** Plain decimals, as prices may have them. */
const RATIO = /^\d{1,12}(?:\.\d{1,30})?$/

/** Model → ratio, digit by digit; null for a text that is anything but a flat map of decimals. */
export function readPresetList(text: string): Map<string, string> | null {
  const parsed = parseJsonText(text)
  if ('fault' in parsed || !isObject(parsed.value) || parsed.value.size > NAMES_MAX) return null
  const list = new Map<string, string>()
  for (const [name, value] of parsed.value) {
    if (name === '' || name.length > NAME_LENGTH_MAX || name === '__proto__') return null
    if (!isNumber(value) || !RATIO.test(value.numberText)) return null
    list.set(name, value.numberText)
  }
  return list
}
