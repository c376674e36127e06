/** What came from outside: anything may be missing, or of another kind. */
export type Loose = Readonly<Record<string, unknown>>

export const objectOf = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {}

export function parsedObject(bytes: Buffer): Loose | null {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Loose)
      : null
  } catch {
    return null
  }
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
