/**
 * A JSON object of an option that keeps the order of its keys and every digit of its numbers.
 * `JSON.parse` alone would round `0.1000000000000000055` and reorder keys such as `4`.
 */
export type JsonMap = ReadonlyMap<string, string>

const ENTRY =
  /("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/g

export type ValueKind = 'number' | 'text'

/**
 * Name → the value's own JSON text; null unless the text is a flat object with values of that kind.
 */
export function readJsonMap(text: string, kind: ValueKind = 'number'): JsonMap | null {
  const wanted = kind === 'number' ? 'number' : 'string'
  let parsed: unknown
  try {
    parsed = JSON.parse(text.trim() === '' ? '{}' : text)
  } catch {
    return null
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null
  if (Object.values(parsed).some((value) => typeof value !== wanted)) return null
  const entries = new Map<string, string>()
  for (const [, key = '""', value = ''] of text.matchAll(ENTRY)) {
    entries.set(JSON.parse(key) as string, value)
  }
  return entries
}

/** JSON text indented by two spaces, in the map's order. */
export function writeJsonMap(entries: JsonMap): string {
  if (entries.size === 0) return '{}'
  const lines = [...entries].map(([key, value]) => `  ${JSON.stringify(key)}: ${value}`)
  return `{\n${lines.join(',\n')}\n}`
}

/** Sets one entry, or removes it with `null`; the others keep their place. */
export function withEntry(entries: JsonMap, key: string, value: string | null): JsonMap {
  const changed = new Map(entries)
  if (value === null) changed.delete(key)
  else changed.set(key, value)
  return changed
}

/** Whether the text is JSON, which the specification requires of every JSON field on blur. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The same JSON without whitespace between tokens; other texts unchanged. */
export function compactJson(text: string): string {
  if (!isJson(text)) return text
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? '')
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"\s]+/g

/** The same JSON indented by two spaces, with every digit kept; other texts unchanged. */
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
