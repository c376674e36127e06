import { closingQuote } from './scan-json-tokens.ts'

const QUOTE = 34
const COMMA = 44
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

const PATH_LENGTH_MAX = 200

/**
 * One level of nesting at an offset. The level of an object is the key of the current member, or
 * null if this key has not been read. The level of an array is the number of complete elements.
 */
type Level = string | number | null

/**
 * Returns the path of the field that contains the byte at `at`, such as `messages[0].content`.
 * Returns null if no field contains the byte. The bytes before `at` must be valid JSON.
 */
export function pathAt(bytes: Buffer, at: number): string | null {
  const levels: Level[] = []
  for (let index = 0; index < at; index += 1) {
    const byte = bytes[index]
    if (byte === QUOTE) {
      const end = closingQuote(bytes, index)
      if (end < 0 || end >= at) break
      // In an object, the first string after a brace or comma is a key.
      if (levels.at(-1) === null) levels[levels.length - 1] = textOf(bytes, index, end)
      index = end
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      levels.push(byte === OPEN_BRACE ? null : 0)
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      levels.pop()
    } else if (byte === COMMA) {
      const level = levels.at(-1)
      levels[levels.length - 1] = typeof level === 'number' ? level + 1 : null
    }
  }
  return pathOf(levels)
}

const textOf = (bytes: Buffer, start: number, end: number): string =>
  JSON.parse(bytes.toString('utf8', start, end + 1)) as string

function pathOf(levels: readonly Level[]): string | null {
  const named = levels.filter((level) => level !== null)
  const path = named.map((level) => (typeof level === 'number' ? `[${level}]` : `.${level}`))
  return path.length === 0 ? null : path.join('').slice(1, PATH_LENGTH_MAX).toWellFormed()
}
