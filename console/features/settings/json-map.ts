import { parseObject } from '#console/api/parse-object.ts'

/**
 * The JSON text of each value by name. Unlike the result of `JSON.parse`, the map keeps the order
 * of keys such as `4` and the digits of numbers such as `0.1000000000000000055`.
 */
export type JsonMap = ReadonlyMap<string, string>

const ENTRY =
  /("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/g

export type ValueKind = 'number' | 'text'

/** Parses a flat object whose values are all of `kind`. Returns null for any other text. */
export function readJsonMap(text: string, kind: ValueKind = 'number'): JsonMap | null {
  const expectedType = kind === 'number' ? 'number' : 'string'
  const parsed = parseObject(text.trim() === '' ? '{}' : text)
  if (parsed === null || Object.values(parsed).some((value) => typeof value !== expectedType))
    return null
  const entries = new Map<string, string>()
  for (const [, key = '""', value = ''] of text.matchAll(ENTRY)) {
    entries.set(JSON.parse(key) as string, value)
  }
  return entries
}

/** Formats the entries as JSON with two-space indentation. The entries keep their order. */
export function writeJsonMap(entries: JsonMap): string {
  if (entries.size === 0) return '{}'
  const lines = [...entries].map(([key, value]) => `  ${JSON.stringify(key)}: ${value}`)
  return `{\n${lines.join(',\n')}\n}`
}

/** Sets an entry, or removes it if `value` is null. The other entries keep their order. */
export function withEntry(entries: JsonMap, key: string, value: string | null): JsonMap {
  const changed = new Map(entries)
  if (value === null) changed.delete(key)
  else changed.set(key, value)
  return changed
}

/**
 * Returns true if the text is JSON. Fields are checked when they lose the focus, as the
 * specification requires.
 */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Removes white space from JSON. A text that is not JSON is returned unchanged. */
export function compactJson(text: string): string {
  if (!isJson(text)) return text
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? '')
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"\s]+/g

/**
 * Formats JSON with line breaks and indentation. Numbers keep all their digits. A text that is not
 * JSON is returned unchanged.
 */
export function readableJson(text: string): string {
  if (!isJson(text)) return text
  let [depth, readable, last] = [0, '', '']
  for (const [token] of text.matchAll(TOKEN)) {
    const isOpen = last === '[' || last === '{'
    const isClosing = token === ']' || token === '}'
    if (isClosing) depth -= 1
    if (isOpen !== isClosing || last === ',') readable += `\n${'  '.repeat(depth)}`
    readable += token === ':' ? ': ' : token
    if (token === '[' || token === '{') depth += 1
    last = token
  }
  return readable
}
