import { eventData } from '#relay/canonical/sse-scanner.ts'
import type { EventMeaning, StreamFormat } from '../dialects/stream-format.ts'

const OPEN_BRACE = 123
const ERROR_EVENT = /^event: ?error\s/m
/** The number of bytes of an event that are searched for its name. */
const NAME_BYTES = 64

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

/** Reads the meaning of an event. Returns null unless its data is an object or an array. */
export function readStreamEvent(stream: StreamFormat, bytes: Buffer): EventMeaning | null {
  const event = parseStreamEvent(bytes)
  if (event === null) return null
  return stream.readEvent(event, ERROR_EVENT.test(bytes.toString('latin1', 0, NAME_BYTES)))
}
