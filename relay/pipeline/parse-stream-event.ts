import { eventData } from '#relay/canonical/sse-scanner.ts'

const OPEN_BRACE = 123

/**
 * Parses the data of an event. Plain JSON outside of an event is parsed as well, because Google
 * ends a stream with an error in this form. Returns null unless the data is an object or an array.
 */
export function parseStreamEvent(bytes: Buffer): object | null {
  const data = eventData(bytes) ?? (bytes[0] === OPEN_BRACE ? bytes.toString() : null)
  if (data === null) return null
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null ? value : null
  } catch {
    return null
  }
}
