import { isNumber, isObject, parseJsonText } from '#domain/shared/json-text.ts'

export const NAMES_MAX = 5_000
const NAME_LENGTH_MAX = 256
/** Plain decimals, as prices may have them. */
const RATIO = /^\d{1,12}(?:\.\d{1,30})?$/

/** Tokens of an answer, in the bounds of the option that takes them over. */
const OUTPUT_CAP = /^[1-9]\d{0,8}$/

/** Model → ratio, digit by digit; null for a text that is anything but a flat map of decimals. */
export const readPresetList = (text: string): Map<string, string> | null => readNumbers(text, RATIO)

/** Model → the most output tokens of an answer; null for any other text. */
export const readOutputCapList = (text: string): Map<string, string> | null =>
  readNumbers(text, OUTPUT_CAP)

function readNumbers(text: string, shape: RegExp): Map<string, string> | null {
  const parsed = parseJsonText(text)
  if ('fault' in parsed || !isObject(parsed.value) || parsed.value.size > NAMES_MAX) return null
  const list = new Map<string, string>()
  for (const [name, value] of parsed.value) {
    if (name === '' || name.length > NAME_LENGTH_MAX || name === '__proto__') return null
    if (!isNumber(value) || !shape.test(value.numberText)) return null
    list.set(name, value.numberText)
  }
  return list
}
