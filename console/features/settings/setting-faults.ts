import { isNegative, parseDecimal } from '#console/ui/exact-decimal.ts'
import { isJson, readJsonMap } from './json-map.ts'
import { fieldOf, isJsonOption, JSON_OPTIONS } from './setting-fields.ts'

export type SettingFault =
  | { code: 'notJson' | 'notMap' | 'notTextMap' | 'notNumber' | 'notInteger' }
  | { code: 'tooSmall'; min: number }
  | { code: 'tooLarge'; max: number }

/** What is wrong with the text of an option; null when it may be saved. */
export function settingFault(key: string, text: string): SettingFault | null {
  if (isJsonOption(key)) return jsonFault(text, JSON_OPTIONS[key])
  const field = fieldOf(key)
  if (field?.kind !== 'integer') return null
  if (!/^-?\d{1,16}$/.test(text.trim())) return { code: 'notInteger' }
  const value = Number(text)
  if (field.min !== undefined && value < field.min) return { code: 'tooSmall', min: field.min }
  if (field.max !== undefined && value > field.max) return { code: 'tooLarge', max: field.max }
  return null
}

function jsonFault(text: string, kind: 'number' | 'text'): SettingFault | null {
  if (!isJson(text)) return { code: 'notJson' }
  const entries = readJsonMap(text, kind)
  if (entries === null) return { code: kind === 'number' ? 'notMap' : 'notTextMap' }
  if (kind === 'text') return null
  const isWrong = [...entries.values()].some((value) => {
    const number = parseDecimal(value)
    return number === null || isNegative(number)
  })
  return isWrong ? { code: 'notNumber' } : null
}
