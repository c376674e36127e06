import { jsonOrEmpty, objectOf, textOf } from '#relay/canonical/json-values.ts'

/** The beginning of the arguments of a function that represents a custom tool. */
const BEGINNING = '{"input":"'
const BEGINNING_WITH_SPACE = /^\s*\{\s*"input"\s*:\s*"/
/** The maximum length, in characters, of a beginning with white space. */
const BEGINNING_LENGTH_MAX = 200

/** An escape sequence, the end of the text, a part of an escape sequence, or plain text. */
const PIECE = /\\u[0-9a-fA-F]{4}|\\[^u]|["\\]|[^"\\]+/gs
const ESCAPE_LENGTH_MAX = 6
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
])
const HIGH_SURROGATE = /[\uD800-\uDBFF]$/

/**
 * Decodes the text input of a custom tool from the arguments of its function, which arrive in
 * pieces. A text that was cut off ends where it was cut off. Arguments without such an input can
 * only be decoded when they are complete.
 */
export class CustomToolInputDecoder {
  private phase: 'beginning' | 'input' | 'ended' | 'other' = 'beginning'
  private waiting = ''

  /** The number of characters that are held back. */
  get waitingCharacters(): number {
    return this.waiting.length
  }

  /** Returns the part of the input that is known now and was not returned before. */
  add(json: string): string {
    if (this.phase === 'ended') return ''
    this.waiting += json
    if (this.phase === 'beginning') this.readBeginning()
    return this.phase === 'input' ? this.decode() : ''
  }

  /** Returns the rest of the input when no more arguments are expected. */
  end(): string {
    const { phase, waiting } = this
    this.phase = 'ended'
    this.waiting = ''
    return phase === 'beginning' || phase === 'other' ? inputOfOtherArguments(waiting) : ''
  }

  private readBeginning(): void {
    const beginning = BEGINNING_WITH_SPACE.exec(this.waiting)?.[0]
    if (beginning !== undefined) {
      this.phase = 'input'
      this.waiting = this.waiting.slice(beginning.length)
    } else if (!isCutBeginning(this.waiting)) this.phase = 'other'
  }

  private decode(): string {
    let text = ''
    let length = 0
    for (const [piece] of this.waiting.matchAll(PIECE)) {
      if (piece === '"') this.phase = 'ended'
      const isPartOfEscape = piece === '\\' && this.waiting.length - length < ESCAPE_LENGTH_MAX
      if (piece === '"' || isPartOfEscape) break
      text += unescaped(piece)
      length += piece.length
    }
    if (this.phase === 'ended') {
      this.waiting = ''
      return text
    }
    // Half of a surrogate pair can't be encoded, so it waits for the other half.
    const half = HIGH_SURROGATE.exec(text)?.[0] ?? ''
    this.waiting = half + this.waiting.slice(length)
    return text.slice(0, text.length - half.length)
  }
}

function unescaped(piece: string): string {
  if (!piece.startsWith('\\') || piece === '\\') return piece
  const [, letter = ''] = piece
  if (letter === 'u') return String.fromCharCode(Number.parseInt(piece.slice(2), 16))
  return ESCAPED.get(letter) ?? letter
}

const isCutBeginning = (json: string): boolean =>
  json.length <= BEGINNING_LENGTH_MAX && BEGINNING.startsWith(json.replace(/\s/g, ''))

/**
 * Returns the input from arguments that do not begin with it. An input of another type than text
 * becomes JSON. Any other text is returned unchanged, because some models write the input itself.
 */
function inputOfOtherArguments(json: string): string {
  if (isCutBeginning(json)) return ''
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return json
  }
  const object = objectOf(value)
  if (object === null) return textOf(value) ?? json
  if (Object.keys(object).length === 0) return ''
  const { input } = object
  return textOf(input) ?? (jsonOrEmpty(input) || json)
}
