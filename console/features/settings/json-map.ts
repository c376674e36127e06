import { parseObject } from '#console/api/parse-json-object.ts'

/**
 * The entries of a JSON object in their original order. Numbers are kept as texts, so that they
 * lose no digits.
 */
export type JsonMap = ReadonlyMap<string, string>

const ENTRY =
  /("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/g

type ValueKind = 'number' | 'text'

/**
 * Parses a JSON object without nested objects. An empty text counts as `{}`. Returns null for any
 * other text, and for an object with a value that is not of `kind`.
 */
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

export function writeJsonMap(entries: JsonMap): string {
  if (entries.size === 0) return '{}'
  const lines = [...entries].map(([key, value]) => `  ${JSON.stringify(key)}: ${value}`)
  return `{\n${lines.join(',\n')}\n}`
}

/**
 * Returns the entries with a new value for `key`, or without `key` if `value` is null. The other
 * entries keep their order.
 */
export function withEntry(entries: JsonMap, key: string, value: string | null): JsonMap {
  const changed = new Map(entries)
  if (value === null) changed.delete(key)
  else changed.set(key, value)
  return changed
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns JSON without white space. A text that is not JSON is returned unchanged. */
export function compactJson(text: string): string {
  if (!isJson(text)) return text
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? '')
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"\s]+/g

/**
 * Returns indented JSON in which numbers keep all their digits. A text that is not JSON is returned
 * unchanged.
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
