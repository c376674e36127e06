/**
 * The kinds of JSON values. The booleans are two kinds, because some members accept only one of
 * them.
 */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null'

export const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 48 && byte <= 57

/** Reports whether the byte may follow a backslash in a two-character escape, such as `\n`. */
const isShortEscape = (byte: number | undefined): boolean =>
  byte === 34 ||
  byte === 92 ||
  byte === 47 ||
  byte === 98 ||
  byte === 102 ||
  byte === 110 ||
  byte === 114 ||
  byte === 116

/** Returns the value of the four hexadecimal digits at `at`, or -1 if they are invalid. */
function hexOf(bytes: Buffer, at: number): number {
  let value = 0
  for (let index = at; index < at + 4; index += 1) {
    const byte = bytes[index]
    if (byte === undefined) return -1
    const digit = isDigit(byte) ? byte - 48 : (byte | 32) - 87
    if (digit < 0 || digit > 15 || (!isDigit(byte) && digit < 10)) return -1
    value = value * 16 + digit
  }
  return value
}

const [QUOTE, BACKSLASH] = [34, 92]

/**
 * A view of a buffer as words of four bytes, for a fast search. Words must be aligned, so the first
 * word begins `shift` bytes before the buffer.
 */
export type Words = { readonly words: Int32Array; readonly shift: number }

/**
 * Returns a view of the bytes as words, without a copy. If the last bytes do not fill a word, the
 * view omits them.
 */
export function wordsOf(bytes: Buffer): Words {
  const shift = bytes.byteOffset % 4
  const length = Math.floor((bytes.length + shift) / 4)
  return { words: new Int32Array(bytes.buffer, bytes.byteOffset - shift, length), shift }
}

// Each constant repeats one byte four times, so that one operation tests all four bytes of a word.
// Subtracting `SPACES` sets the highest bit of each byte below 32 (a control character). An XOR
// with `QUOTES` or `BACKSLASHES` turns each quote or backslash into 0. Subtracting `ONES` from the
// result sets the highest bit of these bytes.
const ONES = 0x01010101
const SPACES = 0x20202020
const QUOTES = 0x22222222
const BACKSLASHES = 0x5c5c5c5c
const HIGH_BITS = 0x80808080 | 0

/**
 * Skips plain text quickly, four bytes at a time. Returns the offset of the first word that
 * contains a quote, backslash or control character. If the first `count` words of the bytes contain
 * no such word, returns the end of these words. If `at` is not at the start of a word, returns
 * `at`.
 */
export function endOfPlainText(
  { words, shift }: Words,
  at: number,
  count: number = words.length,
): number {
  const offset = at + shift
  if (offset % 4 !== 0) return at
  let index = offset / 4
  for (; index < count; index += 1) {
    const word = words[index] as number
    const quote = word ^ QUOTES
    const backslash = word ^ BACKSLASHES
    const found =
      ((word - SPACES) & ~word) | ((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash)
    if ((found & HIGH_BITS) !== 0) break
  }
  return index * 4 - shift
}

/**
 * Returns the length of the escape sequence at `at`, or of two sequences that form a surrogate
 * pair. Returns 0 for an invalid sequence, and -1 for a NUL or an unpaired surrogate.
 */
export function escapeLength(bytes: Buffer, at: number): number {
  if (bytes[at + 1] !== 117) return isShortEscape(bytes[at + 1]) ? 2 : 0
  const unit = hexOf(bytes, at + 2)
  if (unit < 0) return 0
  const isHigh = unit >= 0xd800 && unit <= 0xdbff
  if (unit === 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return -1
  if (!isHigh) return 6
  if (bytes[at + 6] !== BACKSLASH || bytes[at + 7] !== 117) return -1
  const low = hexOf(bytes, at + 8)
  return low >= 0xdc00 && low <= 0xdfff ? 12 : -1
}

/**
 * Counts the bytes outside of strings that are among `counted`. Stops once the count exceeds `max`.
 * For JSON that is invalid, the count is right as far as `JSON.parse` would read it.
 */
export function countOutsideStrings(bytes: Buffer, counted: Iterable<number>, max: number): number {
  const words = wordsOf(bytes)
  const isCounted = new Uint8Array(256)
  for (const byte of counted) isCounted[byte] = 1
  let count = 0
  let at = 0
  while (at < bytes.length && count <= max) {
    const byte = bytes[at] as number
    count += isCounted[byte] as number
    at = byte === QUOTE ? endOfString(bytes, words, at) : at + 1
  }
  return count
}

/** Returns the offset after the string that begins at `start`. */
function endOfString(bytes: Buffer, words: Words, start: number): number {
  let at = start + 1
  while (at < bytes.length) {
    at = endOfPlainText(words, at)
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    at += byte === BACKSLASH ? 2 : 1
  }
  return at
}

/** Returns the offset of the first byte at or after `from` that is not JSON white space. */
export function afterWhiteSpace(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 32 || bytes[at] === 10 || bytes[at] === 13 || bytes[at] === 9) at += 1
  return at
}

const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/**
 * Returns the offset of the closing quote of the JSON string that begins at `start`. Returns -1 if
 * the string has no end.
 */
export function closingQuote(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1
    // An odd number of backslashes escapes the quote. In an even number, they escape only each
    // other.
    if (backslashes % 2 === 0) return at
  }
  return -1
}

/**
 * Returns the offset of the closing brace of the JSON object that begins at `start`. Returns -1 if
 * the object has no end.
 */
export function closingBrace(bytes: Buffer, start: number): number {
  let depth = 0
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === OPEN_BRACE) depth += 1
    else if (byte === QUOTE) {
      at = closingQuote(bytes, at)
      if (at < 0) return -1
    } else if (byte === CLOSE_BRACE) {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return -1
}

/**
 * Returns the kind of the JSON values that begin with this byte. Returns null if no JSON value
 * begins with it.
 */
export function kindOf(byte: number): JsonKind | null {
  if (byte === 34) return 'string'
  if (byte === 123) return 'object'
  if (byte === 91) return 'array'
  if (byte === 116) return 'true'
  if (byte === 102) return 'false'
  if (byte === 110) return 'null'
  return byte === 45 || isDigit(byte) ? 'number' : null
}

const MINUS = 45
const PLUS = 43
const POINT = 46
const ZERO = 48

/**
 * Returns the offset after the number at `start`. If a byte is invalid, returns -1 minus the offset
 * of this byte.
 */
export function endOfNumber(bytes: Buffer, start: number): number {
  let at = start
  if (bytes[at] === MINUS) at += 1
  const first = at
  while (isDigit(bytes[at])) at += 1
  if (at === first || (bytes[first] === ZERO && at > first + 1)) return -1 - at
  if (bytes[at] === POINT) {
    const fraction = ++at
    while (isDigit(bytes[at])) at += 1
    if (at === fraction) return -1 - at
  }
  if (bytes[at] === 101 || bytes[at] === 69) {
    at += 1
    if (bytes[at] === PLUS || bytes[at] === MINUS) at += 1
    const exponent = at
    while (isDigit(bytes[at])) at += 1
    if (at === exponent) return -1 - at
  }
  return at
}
