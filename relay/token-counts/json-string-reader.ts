import { isDigit } from '../dialects/scan-json-tokens.ts'
import type { TextExcerpt } from './text-excerpt.ts'

/**
 * How a string is read: as a short name (`key`), as text, as JSON with its escapes (`raw`), or not
 * at all (`none`).
 */
type StringRole = 'key' | 'text' | 'raw' | 'none'

const QUOTE = 34
const BACKSLASH = 92
const LETTER_N = 110
const LETTER_U = 117
/**
 * The number of characters of a name that are kept. All names that the collector looks for are
 * shorter.
 */
const NAME_LENGTH_MAX = 32
const SHORT_ESCAPES: ReadonlyMap<number, number> = new Map([
  [98, 8],
  [102, 12],
  [LETTER_N, 10],
  [114, 13],
  [116, 9],
])

/**
 * Reads JSON strings, each from the byte after its opening quote. A string may arrive in pieces.
 */
export class JsonStringReader {
  /** True once the closing quote of the current string was read. */
  isOver = true
  /** The first characters of the current string, if the string is read with the role `key`. */
  captured = ''
  private role: StringRole = 'none'
  private isEscape = false
  private digitsLeft = 0
  private unit = 0
  private highSurrogate = 0
  private readonly text: TextExcerpt
  /** The excerpt to which the text of the current string is added. */
  private into: TextExcerpt

  constructor(text: TextExcerpt) {
    this.text = text
    this.into = text
  }

  begin(role: StringRole, into = this.text): void {
    this.role = role
    this.into = into
    this.isOver = false
    this.captured = ''
  }

  /** Reads until the string or the input ends. Returns the offset at which reading stopped. */
  read(bytes: Uint8Array, start: number, end: number): number {
    let at = start
    while (at < end) {
      if (this.isEscape) {
        this.escape(bytes[at] ?? 0)
        at += 1
        continue
      }
      const from = at
      while (at < end && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at += 1
      if (at > from) this.put(bytes, from, at)
      if (at === end) return at
      at += 1
      if (bytes[at - 1] === QUOTE) {
        this.isOver = true
        return at
      }
      this.isEscape = true
    }
    return at
  }

  private put(bytes: Uint8Array, from: number, end: number): void {
    if (this.role === 'text' || this.role === 'raw') this.into.add(bytes, from, end)
    else if (this.role === 'key') {
      for (let at = from; at < end && this.captured.length < NAME_LENGTH_MAX; at += 1) {
        this.captured += String.fromCharCode(bytes[at] ?? 0)
      }
    }
  }

  private putByte(byte: number): void {
    if (this.role === 'text' || this.role === 'raw') this.into.addByte(byte)
    else if (this.role === 'key' && this.captured.length < NAME_LENGTH_MAX) {
      this.captured += String.fromCharCode(byte)
    }
  }

  private escape(byte: number): void {
    if (this.digitsLeft > 0) {
      this.unit = this.unit * 16 + (isDigit(byte) ? byte - 48 : (byte | 32) - 87)
      this.digitsLeft -= 1
      if (this.digitsLeft === 0) this.endUnit()
      return
    }
    if (byte === LETTER_U) {
      this.unit = 0
      this.digitsLeft = 4
      return
    }
    this.isEscape = false
    if (this.role === 'raw') {
      this.putByte(BACKSLASH)
      this.putByte(byte)
    } else this.putByte(SHORT_ESCAPES.get(byte) ?? byte)
  }

  private endUnit(): void {
    const { unit, highSurrogate } = this
    this.isEscape = false
    if (unit >= 0xd800 && unit < 0xdc00) this.highSurrogate = unit
    else if (unit < 0xdc00 || unit > 0xdfff) this.putCharacter(unit)
    else this.putCharacter(0x10000 + ((highSurrogate - 0xd800) << 10) + (unit - 0xdc00))
  }

  /**
   * Appends a character in UTF-8. With the role `raw`, a character that JSON requires to be escaped
   * is appended as `\n`.
   */
  private putCharacter(code: number): void {
    const isEscaped = code < 32 || code === QUOTE || code === BACKSLASH
    if (isEscaped && this.role === 'raw') this.putByte(BACKSLASH)
    if (code < 0x80) return this.putByte(isEscaped && this.role === 'raw' ? LETTER_N : code)
    if (code < 0x800) this.putByte(0xc0 | (code >> 6))
    else if (code < 0x10000) {
      this.putByte(0xe0 | (code >> 12))
      this.putByte(0x80 | ((code >> 6) & 0x3f))
    } else {
      this.putByte(0xf0 | (code >> 18))
      this.putByte(0x80 | ((code >> 12) & 0x3f))
      this.putByte(0x80 | ((code >> 6) & 0x3f))
    }
    this.putByte(0x80 | (code & 0x3f))
  }
}
