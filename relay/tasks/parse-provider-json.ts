import { type JsonObject, objectOf, objectOrEmpty } from '#relay/canonical/json-values.ts'

/** The maximum depth of JSON from providers. Deeper JSON would use too much stack. */
const DEPTH_MAX = 64
const QUOTE = 34
const BACKSLASH = 92

/**
 * The bit in which `[` differs from `{`, and `]` from `}`. Once this bit is set in each byte, a
 * comparison with one kind of brackets finds both kinds.
 */
const SAME = 32
const OPEN = 123
const CLOSE = 125

/**
 * Parses a JSON object that a provider sent. Returns null if the bytes are not a JSON object or are
 * nested too deeply.
 */
export const parsedShallowObject = (bytes: Buffer): JsonObject | null => objectOf(parsedJson(bytes))

/** Parses JSON. Returns undefined if the bytes are not JSON or are nested too deeply. */
export function parsedJson(bytes: Buffer): unknown {
  if (!isShallow(bytes)) return undefined
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/**
 * Reports whether JSON is nested at most `DEPTH_MAX` levels deep. The bytes are checked without
 * decoding UTF-8, because no other character contains the bytes of brackets and quotes.
 */
function isShallow(bytes: Buffer): boolean {
  let depth = 0
  let isInText = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (isInText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isInText = false
    } else if (byte === QUOTE) isInText = true
    else if ((byte | SAME) === OPEN) depth += 1
    else if ((byte | SAME) === CLOSE) depth -= 1
    if (depth > DEPTH_MAX) return false
  }
  return true
}

/** Returns the elements of a list. An element that is not an object becomes an empty object. */
export const listOfObjects = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.map(objectOrEmpty) : []

/**
 * Returns the value as a text of at most `lengthMax` characters. Returns null if the text is empty
 * or the value is neither a text nor a number. Numbers are accepted, because some providers use
 * them as ids. Characters that the database can't store are removed.
 */
export function boundedTextOf(value: unknown, lengthMax: number): string | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  const clean = text.replaceAll('\0', '').toWellFormed().slice(0, lengthMax).toWellFormed()
  return clean === '' ? null : clean
}

/**
 * Returns the value if it is a web address, or null. A text of more than 4096 characters is first
 * cut to this length.
 */
export function webAddress(value: unknown): string | null {
  const text = boundedTextOf(value, 4_096)
  if (text === null || !URL.canParse(text)) return null
  return /^https?:$/.test(new URL(text).protocol) ? text : null
}
