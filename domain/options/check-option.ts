import { readTiers } from '../pricing/context-tiers.ts'
import { decimalOf, decimalText, isAbove, parseDecimal } from '../pricing/decimal.ts'
import { jsonDecimal } from '../pricing/read-ratios.ts'
import { badCharacter, isText as isCleanText } from '../shared/check-characters.ts'
import {
  type ExactJson,
  isNumber,
  isObject,
  parseJsonText,
  reservedName,
} from '../shared/lossless-json.ts'
import { isConfigurableHeader, isHeaderValue } from './configurable-headers.ts'
import type { OptionType, TextForm } from './option-type.ts'

const LENGTH_MAX = 2_000

/**
 * Reports whether the text is a valid link to a chat client, with placeholders `{address}` and
 * `{key}`. The link receives the user's key, so the link must use https, http to the local machine,
 * or the scheme of a client application. Schemes that a browser handles itself are refused.
 */
function isChatLink(link: string): boolean {
  if (link.length > LENGTH_MAX || !/^[a-z][a-z0-9+.-]{0,30}:\S/i.test(link)) return false
  if (BROWSER_SCHEME.test(link)) return false
  if (/^http:/i.test(link) && !LOCAL_HTTP.test(link)) return false
  const filled = link.replaceAll('{address}', 'https%3A%2F%2Fa.example').replaceAll('{key}', 'sk-a')
  if (!URL.canParse(filled)) return false
  const { username, password, protocol } = new URL(filled)
  return !/^https?:$/.test(protocol) || (username === '' && password === '')
}

/** Schemes that a browser handles itself: scripts, embedded text, files and internal pages. */
const BROWSER_SCHEME = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source):/i

/**
 * Matches plain http addresses of the local machine. Other http addresses are refused, because
 * other machines could read the key.
 */
const LOCAL_HTTP = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:[/?#]|$)/i

export type OptionErrorCode =
  | 'not-flag'
  | 'not-integer'
  | 'not-number'
  | 'below-minimum'
  | 'above-maximum'
  | 'too-long'
  | 'too-many-bytes'
  | 'bad-character'
  | 'not-one-line'
  | 'not-url'
  | 'not-host'
  | 'not-mail'
  | 'empty'
  | 'not-choice'
  | 'not-json'
  | 'duplicate-key'
  | 'too-deep'
  | 'not-object'
  | 'not-list'
  | 'not-ratio'
  | 'zero-ratio'
  | 'not-text'
  | 'not-count'
  /** The value is not an integer of 0 or more. */
  | 'not-limit'
  | 'not-tiers'
  | 'not-link'
  | 'name-missing'
  | 'name-needless'
  | 'entry-missing'
  /**
   * The change sets two options that exclude each other. `name` contains the keys that conflict
   * with `key`.
   */
  | 'rivals'
  | 'name-too-long'
  | 'name-reserved'
  | 'secret'
  | 'not-secret'

type InvalidText = {
  readonly error: OptionErrorCode
  readonly name?: string
  readonly minimum?: string | number
  readonly maximum?: string | number
}

type Checked = { readonly value: string } | InvalidText

const JSON_LENGTH_MAX = 1_000_000
const NAME_LENGTH_MAX = 256
/**
 * The maximum length of an option's text in bytes. An event contains the old and the new text, and
 * the maximum size of an event is 768 KiB.
 */
export const TEXT_BYTES_MAX = 380_000

/** Returns the text in the form in which it is stored, or the reason why it is invalid. */
export function checkText(type: OptionType, text: string): Checked {
  if (!isCleanText(text)) return { error: 'bad-character' }
  const checked = checkKind(type, text)
  if ('error' in checked || storedBytes(checked.value) <= TEXT_BYTES_MAX) return checked
  return { error: 'too-many-bytes', maximum: TEXT_BYTES_MAX }
}

/**
 * Returns the number of bytes that the text takes in an event. Events store texts as JSON strings
 * in UTF-8.
 */
export function storedBytes(text: string): number {
  let bytes = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code === 0x22 || code === 0x5c) bytes += 2
    else if (code < 0x80) bytes += 1
    else if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) bytes += 2
    else bytes += 3
  }
  return bytes
}

function checkKind(type: OptionType, text: string): Checked {
  switch (type.kind) {
    case 'flag':
      return text === 'true' || text === 'false' ? { value: text } : { error: 'not-flag' }
    case 'integer':
      return checkInteger(text.trim(), type)
    case 'decimal':
      return checkDecimal(text.trim(), type)
    case 'text':
      return checkLine(text, type)
    case 'lines':
      return checkLength(text, type.maxLength)
    case 'url':
      return isWebAddress(text.trim()) ? { value: text.trim() } : { error: 'not-url' }
    case 'link':
      return checkLink(text.trim())
    case 'choice':
      return type.choices.includes(text) ? { value: text } : { error: 'not-choice' }
    default:
      return checkJson(text, type)
  }
}

function checkLine(text: string, type: Extract<OptionType, { kind: 'text' }>): Checked {
  if (/[\n\r]/.test(text)) return { error: 'not-one-line' }
  if (type.isRequired === true && text.trim() === '') return { error: 'empty' }
  if (type.form === undefined) return checkLength(text, type.maxLength)
  const trimmed = text.trim()
  const { form, error } = FORMS[type.form]
  return trimmed === '' || form.test(trimmed) ? checkLength(trimmed, type.maxLength) : { error }
}

/** The formats of host names and email addresses. The host or mailbox does not have to exist. */
const FORMS: Record<TextForm, { readonly form: RegExp; readonly error: OptionErrorCode }> = {
  host: {
    form: /^(?:\[[\da-f:.]+\]|[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?)$/iu,
    error: 'not-host',
  },
  mail: { form: /^(?:[^<>@]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u, error: 'not-mail' },
}

const checkLength = (text: string, maximum: number): Checked =>
  text.length <= maximum ? { value: text } : { error: 'too-long', maximum }

function checkInteger(
  text: string,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
): Checked {
  if (!/^-?\d{1,16}$/.test(text)) return { error: 'not-integer' }
  const value = BigInt(text)
  if (value < BigInt(minimum)) return { error: 'below-minimum', minimum, maximum }
  if (value > BigInt(maximum)) return { error: 'above-maximum', minimum, maximum }
  return { value: String(value) }
}

function checkDecimal(
  text: string,
  { minimum, maximum, isOptional }: Extract<OptionType, { kind: 'decimal' }>,
): Checked {
  if (isOptional && text === '') return { value: '' }
  const value = parseDecimal(text)
  if (value === null) return noDecimal(text, { minimum, maximum })
  if (isAbove(decimalOf(minimum), value)) return { error: 'below-minimum', minimum, maximum }
  if (isAbove(value, decimalOf(maximum))) return { error: 'above-maximum', minimum, maximum }
  return { value: decimalText(value) }
}

function noDecimal(
  text: string,
  bounds: { readonly minimum: string; readonly maximum: string },
): InvalidText {
  const isNegative = text.startsWith('-') && parseDecimal(text.slice(1)) !== null
  return isNegative ? { error: 'below-minimum', ...bounds } : { error: 'not-number' }
}

const checkLink = (text: string): Checked =>
  text === '' || isChatLink(text) ? { value: text } : { error: 'not-link' }

function isWebAddress(text: string): boolean {
  if (text === '') return true
  if (text.length > 2_000 || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

type JsonType = Exclude<OptionType, { kind: PlainKind }>
type PlainKind = 'flag' | 'integer' | 'decimal' | 'text' | 'lines' | 'url' | 'link' | 'choice'

function checkJson(text: string, type: JsonType): Checked {
  if (text.length > JSON_LENGTH_MAX) return { error: 'too-long', maximum: JSON_LENGTH_MAX }
  const parsed = parseJsonText(text)
  if ('error' in parsed) return parsed
  const { value } = parsed
  const error = badCharacter(value) ?? reservedName(value) ?? shapeError(value, type)
  if (error !== null) return error
  const required = type.kind === 'ratios' ? type.required : undefined
  if (required !== undefined && isObject(value) && !value.has(required)) {
    return { error: 'entry-missing', name: required }
  }
  return { value: text.trim() }
}

function shapeError(value: ExactJson, type: JsonType): InvalidText | null {
  const { kind } = type
  if (kind === 'list' || kind === 'links') {
    if (!Array.isArray(value)) return { error: 'not-list' }
    if (kind === 'list') return value.every(isText) ? null : { error: 'not-text' }
    return linksError(value)
  }
  if (!isObject(value)) return { error: 'not-object' }
  for (const [name, member] of value) {
    if (name === '') return { error: 'name-missing' }
    if (name.length > NAME_LENGTH_MAX) return { error: 'name-too-long' }
    const error = memberError(member, type)
    if (error !== null) return { name, ...error }
  }
  return null
}

function memberError(member: ExactJson, type: JsonType): InvalidText | null {
  switch (type.kind) {
    case 'ratios':
      if (!isRatio(member)) return { error: 'not-ratio' }
      return type.isAboveZero === true && isZero(member) ? { error: 'zero-ratio' } : null
    case 'nested-ratios':
      return shapeError(member, { kind: 'ratios' })
    case 'context-tiers':
      return readTiers(member) === null ? { error: 'not-tiers' } : null
    case 'choice-by-name':
      return isText(member) && type.choices.includes(member) ? null : { error: 'not-choice' }
    case 'names':
      return isText(member) ? null : { error: 'not-text' }
    case 'headers-by-name':
      return headersError(member)
    case 'counts':
      return isCount(member) ? null : { error: 'not-count' }
    case 'lists-by-name':
      if (!Array.isArray(member)) return { error: 'not-list' }
      return member.every(isText) ? null : { error: 'not-text' }
    case 'limits-by-name':
      return limitsError(member, type.members)
    default:
      return null
  }
}

function limitsError(limits: ExactJson, members: readonly string[]): InvalidText | null {
  if (!isObject(limits)) return { error: 'not-object' }
  for (const [name, limit] of limits) {
    if (!members.includes(name)) return { error: 'name-needless', name: name.slice(0, 64) }
    const isLimit = isNumber(limit) && /^(?:0|[1-9]\d{0,8})$/.test(limit.numberText)
    if (!isLimit) return { error: 'not-limit' }
  }
  return null
}

const isText = (value: ExactJson): value is string => typeof value === 'string'

const isCount = (value: ExactJson): boolean =>
  isNumber(value) && /^[1-9]\d{0,8}$/.test(value.numberText)

function headersError(headers: ExactJson): InvalidText | null {
  if (!isObject(headers)) return { error: 'not-object' }
  for (const [name, value] of headers) {
    if (!isConfigurableHeader(name)) return { error: 'name-reserved', name: name.slice(0, 64) }
    const values = Array.isArray(value) ? value : [value]
    const isValid = values.length > 0 && values.every((text) => isText(text) && isHeaderValue(text))
    if (!isValid) return { error: 'not-text', name }
  }
  return null
}

/** Checks a list of chat links. Each entry of the list maps one or more names to links. */
function linksError(entries: readonly ExactJson[]): InvalidText | null {
  for (const entry of entries) {
    if (!isObject(entry) || entry.size === 0) return { error: 'not-link' }
    for (const [name, link] of entry) {
      if (name.trim() === '') return { error: 'name-missing' }
      if (name.length > NAME_LENGTH_MAX) return { error: 'name-too-long' }
      if (!isText(link) || !isChatLink(link)) return { error: 'not-link', name }
    }
  }
  return null
}

/**
 * Reports whether a JSON value is a ratio. A number in quotes is a string and therefore not a
 * ratio.
 */
const isRatio = (member: ExactJson): boolean => isNumber(member) && jsonDecimal(member) !== null

const isZero = (ratio: ExactJson): boolean => jsonDecimal(ratio)?.units === 0n
