import type { LogEntry, LogOther } from '#read-api/contract/log.ts'

const parsed = new WeakMap<LogEntry, LogOther>()

/** The row's `other`, parsed once; empty when it is no JSON object. */
export function otherOf(row: LogEntry): LogOther {
  const known = parsed.get(row)
  if (known !== undefined) return known
  const other = parseOther(row.other)
  parsed.set(row, other)
  return other
}

function parseOther(text: string): LogOther {
  try {
    const value: unknown = text === '' ? null : JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}
