import { decimalOf, decimalText, isAbove, parseDecimal } from '../pricing/decimal.ts'
import { jsonDecimal } from '../pricing/ratio-map.ts'
import { type ExactJson, isNumber, isObject, parseJsonText } from '../shared/json-text.ts'
import type { OptionType } from './schema.ts'

export type OptionFault =
  | 'not-flag'
  | 'not-integer'
  | 'not-number'
  | 'below-minimum'
  | 'above-maximum'
  | 'too-long'
  | 'bad-character'
  | 'not-url'
  | 'not-choice'
  | 'not-json'
  | 'duplicate-key'
  | 'too-deep'
  | 'not-object'
  | 'not-list'
  | 'not-ratio'
  | 'not-text'
  | 'not-count'
  | 'not-link'
  | 'name-missing'
  | 'entry-missing'
  | 'name-too-long'
  /** A secret one was sent as text, or a plain one as a secret. */
  | 'secret'
  | 'not-secret'

export type Faulty = {
  readonly fault: OptionFault
  /** The entry of a JSON text that is at fault. */
  readonly name?: string
  readonly minimum?: string | number
  readonly maximum?: string | number
}

export type Checked = { readonly value: string } | Faulty

const JSON_LENGTH_MAX = 1_000_000
const NAME_LENGTH_MAX = 256
/** NUL and its like, and halves of surrogate pairs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const BAD_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]|\p{Cs}/u

/** The text as it is kept, or what is wrong with it. */
export function checkText(type: OptionType, text: string): Checked {
  if (BAD_CHARACTER.test(text)) return { fault: 'bad-character' }
  switch (type.kind) {
    case 'flag':
      return text === 'true' || text === 'false' ? { value: text } : { fault: 'not-flag' }
    case 'integer':
      return checkInteger(text.trim(), type)
    case 'decimal':
      return checkDecimal(text.trim(), type)
    case 'text':
      return text.length <= type.maxLength
        ? { value: text }
        : { fault: 'too-long', maximum: type.maxLength }
    case 'url':
      return isWebAddress(text.trim()) ? { value: text.trim() } : { fault: 'not-url' }
    case 'choice':
      return type.choices.includes(text) ? { value: text } : { fault: 'not-choice' }
    case 'ratios':
      return checkJson(text, type.kind, type.required)
    default:
      return checkJson(text, type.kind)
  }
}

function checkInteger(
  text: string,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
): Checked {
  if (!/^-?\d{1,16}$/.test(text)) return { fault: 'not-integer' }
  const value = BigInt(text)
  if (value < BigInt(minimum)) return { fault: 'below-minimum', minimum, maximum }
  if (value > BigInt(maximum)) return { fault: 'above-maximum', minimum, maximum }
  return { value: String(value) }
}

function checkDecimal(
  text: string,
  { minimum, maximum, isOptional }: Extract<OptionType, { kind: 'decimal' }>,
): Checked {
  if (isOptional && text === '') return { value: '' }
  const value = parseDecimal(text)
  if (value === null) return { fault: 'not-number' }
  if (isAbove(decimalOf(minimum), value)) return { fault: 'below-minimum', minimum, maximum }
  if (isAbove(value, decimalOf(maximum))) return { fault: 'above-maximum', minimum, maximum }
  return { value: decimalText(value) }
}

function isWebAddress(text: string): boolean {
  if (text === '') return true
  if (text.length > 2_000 || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

type JsonKind = 'ratios' | 'names' | 'counts' | 'list' | 'links' | 'object'

function checkJson(text: string, kind: JsonKind, required?: string): Checked {
  if (text.length > JSON_LENGTH_MAX) return { fault: 'too-long', maximum: JSON_LENGTH_MAX }
  const parsed = parseJsonText(text)
  if ('fault' in parsed) return parsed
  const fault = shapeFault(parsed.value, kind)
  if (fault !== null) return fault
  if (required !== undefined && isObject(parsed.value) && !parsed.value.has(required)) {
    return { fault: 'entry-missing', name: required }
  }
  return { value: text.trim() }
}

function shapeFault(value: ExactJson, kind: JsonKind): Faulty | null {
  if (kind === 'list' || kind === 'links') {
    if (!Array.isArray(value)) return { fault: 'not-list' }
    if (kind === 'list') return value.every(isText) ? null : { fault: 'not-text' }
    return value.every(isLink) ? null : { fault: 'not-link' }
  }
  if (!isObject(value)) return { fault: 'not-object' }
  for (const [name, member] of value) {
    if (name === '') return { fault: 'name-missing' }
    if (name.length > NAME_LENGTH_MAX) return { fault: 'name-too-long' }
    if (kind === 'ratios' && !isRatio(member)) return { fault: 'not-ratio', name }
    if (kind === 'names' && !isText(member)) return { fault: 'not-text', name }
    if (kind === 'counts' && !isCount(member)) return { fault: 'not-count', name }
  }
  return null
}

const isText = (value: ExactJson): value is string => typeof value === 'string'

const isCount = (value: ExactJson): boolean =>
  isNumber(value) && /^[1-9]\d{0,8}$/.test(value.numberText)

/** Names with links; an https address, or a scheme of a client's own that can't run script. */
function isLink(value: ExactJson): boolean {
  if (!isObject(value) || value.size === 0) return false
  return [...value.values()].every(
    (link) =>
      isText(link) &&
      /^[a-z][a-z0-9+.-]{0,30}:\S/i.test(link) &&
      !/^(?:http|javascript|data|vbscript|blob|file):/i.test(link),
  )
}

/** No type is coerced: a number in quotes is a text. */
const isRatio = (member: ExactJson): boolean => isNumber(member) && jsonDecimal(member) !== null
