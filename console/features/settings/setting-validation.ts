import { chatAddress, chatTarget } from '#console/ui/chat-links/chat-links.ts'
import {
  type ExactDecimal,
  isNegative,
  parseDecimal,
  subtract,
} from '#console/ui/quota/exact-decimal.ts'
import type { OptionSchema, OptionType } from '#read-api/contract/options.ts'
import { isJson, readJsonMap } from './json-map.ts'

export type SettingError =
  | {
      code: 'notJson' | 'notMap' | 'notTextMap' | 'notCounts' | 'notList' | 'notLinks' | 'notObject'
    }
  | {
      code: 'notNumber' | 'notInteger' | 'notOneLine' | 'notUrl' | 'notHost' | 'notMail' | 'isEmpty'
    }
  | { code: 'notLink' | 'nameless' }
  | { code: 'tooSmall'; min: string }
  | { code: 'tooLarge'; max: string }
  | { code: 'tooLong'; max: number }
  | { code: 'entryMissing' | 'sameName'; name: string }
  | { code: 'unknownPlaceholder'; placeholder: string }
  /** `other` is the key of the option for the other end of the range. */
  | { code: 'belowOther' | 'aboveOther'; other: string }

export function validateSetting(type: OptionType, text: string): SettingError | null {
  switch (type.kind) {
    case 'flag':
    case 'choice':
      return null
    case 'integer':
      return /^-?\d{1,16}$/.test(text.trim()) ? validateBounds(type, text) : { code: 'notInteger' }
    case 'decimal':
      if (type.is_optional === true && text.trim() === '') return null
      return parseDecimal(text) === null ? { code: 'notNumber' } : validateBounds(type, text)
    case 'text':
      return validateLine(type, text)
    case 'lines':
      return validateLength(type, text)
    case 'url':
      return isHttpUrl(text.trim()) ? null : { code: 'notUrl' }
    case 'link':
      return text.trim() === '' ? null : validateLink(text.trim())
    default:
      return isJson(text) ? validateShape(type, text) : { code: 'notJson' }
  }
}

/**
 * Returns an error if the option `key` is the lower or upper end of a range that is invalid
 * according to `isValidRange`. Otherwise, returns null. The schema of an upper end names the option
 * of its lower end in `not_below`.
 */
export function validateRange(
  schema: ReadonlyMap<string, OptionSchema>,
  key: string,
  value: (key: string) => string,
): SettingError | null {
  for (const upper of schema.values()) {
    const lower = schema.get(upper.not_below)
    if (lower === undefined || (key !== upper.key && key !== lower.key)) continue
    if (isValidRange(value(lower.key), value(upper.key))) continue
    return key === upper.key
      ? { code: 'belowOther', other: lower.key }
      : { code: 'aboveOther', other: upper.key }
  }
  return null
}

/**
 * Reports whether `upper` is not below `lower`. An `upper` of 0 means that there is no upper limit.
 * Returns true if a text is not a number.
 */
function isValidRange(lower: string, upper: string): boolean {
  const [min, max] = [parseDecimal(lower), parseDecimal(upper)]
  return min === null || max === null || Number(upper) === 0 || !isBelow(max, min)
}

function validateBounds({ minimum, maximum }: OptionType, text: string): SettingError | null {
  const value = parseDecimal(text)
  const [min, max] = [parseDecimal(minimum ?? ''), parseDecimal(maximum ?? '')]
  if (value === null) return null
  if (min !== null && isBelow(value, min)) return { code: 'tooSmall', min: minimum ?? '' }
  if (max !== null && isBelow(max, value)) return { code: 'tooLarge', max: maximum ?? '' }
  return null
}

const isBelow = (left: ExactDecimal, right: ExactDecimal) => isNegative(subtract(left, right))

function validateLine(type: OptionType, text: string): SettingError | null {
  if (/[\n\r]/.test(text)) return { code: 'notOneLine' }
  if (text.trim() === '') return type.is_required === true ? { code: 'isEmpty' } : null
  if (type.form === 'host' && /[\s/@]/.test(text.trim())) return { code: 'notHost' }
  if (type.form === 'mail' && !/[^\s@]@[^\s@]/.test(text)) return { code: 'notMail' }
  return validateLength(type, text)
}

function validateLength({ max_length: max }: OptionType, text: string): SettingError | null {
  return max !== undefined && text.length > max ? { code: 'tooLong', max } : null
}

function isHttpUrl(text: string): boolean {
  if (text === '') return true
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

function validateShape({ kind, required }: OptionType, text: string): SettingError | null {
  const value: unknown = JSON.parse(text)
  if (kind === 'list') return isListOf(value, isText) ? null : { code: 'notList' }
  if (kind === 'links') return validateLinks(value)
  if (!isObject(value)) return { code: kind === 'ratios' ? 'notMap' : 'notObject' }
  if (kind === 'ratios') return validateRatios(text, required)
  const members = Object.values(value)
  if (kind === 'names' && !members.every(isText)) return { code: 'notTextMap' }
  if (kind === 'counts' && !members.every(isCount)) return { code: 'notCounts' }
  return null
}

function validateRatios(text: string, required: string | undefined): SettingError | null {
  const entries = readJsonMap(text, 'number')
  if (entries === null) return { code: 'notMap' }
  const hasInvalidRatio = [...entries.values()].some((value) => {
    const number = parseDecimal(value)
    return number === null || isNegative(number)
  })
  if (hasInvalidRatio) return { code: 'notNumber' }
  if (required !== undefined && !entries.has(required)) {
    return { code: 'entryMissing', name: required }
  }
  return null
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) > 0
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isListOf = (value: unknown, fits: (element: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(fits)

function validateLinks(value: unknown): SettingError | null {
  if (!Array.isArray(value) || !value.every(isLinks)) return { code: 'notLinks' }
  const links = value.flatMap((entry) => Object.entries(entry))
  if (links.some(([name]) => name.trim() === '')) return { code: 'nameless' }
  const [same] = links.filter(([name], at) => links.findIndex(([one]) => one === name) < at)
  if (same !== undefined) return { code: 'sameName', name: same[0] }
  return (
    links.map(([, link]) => validateLink(link)).find((settingError) => settingError !== null) ??
    null
  )
}

/**
 * Checks the template of a link. The server accepts unknown placeholders. This function reports
 * them, because they are probably typing errors.
 */
function validateLink(template: string): SettingError | null {
  const placeholders = template.match(/\{[a-z_][\w-]*\}/gi) ?? []
  const unknown = placeholders.find((placeholder) => !KNOWN_PLACEHOLDERS.includes(placeholder))
  if (!isChatLink(template)) return { code: 'notLink' }
  return unknown === undefined ? null : { code: 'unknownPlaceholder', placeholder: unknown }
}

const KNOWN_PLACEHOLDERS: readonly string[] = ['{address}', '{key}']

const isLinks = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isText)

/**
 * Reports whether a link with this template may contain a token's key. For this check, sample
 * values replace the placeholders.
 */
const isChatLink = (template: string): boolean =>
  chatTarget(chatAddress(template, 'https://a.example', 'sk-a'), '') !== 'none'
