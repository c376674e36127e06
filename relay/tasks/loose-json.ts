/** What came from outside: anything may be missing, or of another kind. */
export type Loose = Readonly<Record<string, unknown>>

/** As for callers. Whatever is read or written again further down would cost the stack. */
const DEPTH_MAX = 64
const QUOTE = 34
const BACKSLASH = 92
/** With this bit set, square brackets are curly ones. */
const SAME = 32
const OPEN = 123
const CLOSE = 125

export const objectOf = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {}

export function parsedObject(bytes: Buffer): Loose | null {
  const value = parsedJson(bytes)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Loose)
    : null
}

/** undefined where it is no JSON, or nested too deep. */
export function parsedJson(bytes: Buffer): unknown {
  if (!isShallow(bytes)) return undefined
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Bytes are enough: in UTF-8 none of a longer character looks like one of these. */
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

export const listOf = (value: unknown): readonly Loose[] =>
  Array.isArray(value) ? value.map(objectOf) : []

/** Numbers too, as some providers give ids; without what no ledger may hold; null: empty. */
export function textOf(value: unknown, lengthMax: number): string | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  const clean = text.replaceAll('\0', '').toWellFormed().slice(0, lengthMax).toWellFormed()
  return clean === '' ? null : clean
}

export function webAddress(value: unknown): string | null {
  const text = textOf(value, 4_096)
  if (text === null || !URL.canParse(text)) return null
  return /^https?:$/.test(new URL(text).protocol) ? text : null
}
