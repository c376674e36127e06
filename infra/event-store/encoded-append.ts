import type { FactMeta, Recorded } from '#domain/shared/event.ts'
import type { ExpectedRevision, NewEvent, StreamAppend } from './port.ts'

/** The maximum number of events in one append, and in one transaction of several appends. */
export const EVENTS_PER_APPEND_MAX = 500
/**
 * The maximum size in bytes, as counted by `bytesOf`, of an append of several events. An append of
 * one event may have up to `EVENT_BYTES_MAX` bytes. EventStoreDB's default limit is one mebibyte.
 * The margin covers the bytes that `bytesOf` does not count.
 */
export const APPEND_BYTES_MAX = 524_288
const EVENT_BYTES_MAX = 786_432
const METADATA_BYTES = 128
const NAME_MAX = 255

/** An event as it is stored. `data` is the JSON text exactly as it was first written. */
export type EncodedEvent = {
  readonly id: string
  readonly type: string
  readonly v: number
  readonly data: string
  readonly meta: FactMeta
}

export type EncodedStreamAppend = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly EncodedEvent[]
  readonly mustBeNew: boolean
}

/** Thrown for an invalid append, which must not be retried. */
export class InvalidAppend extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'InvalidAppend'
  }
}

/** Validates an append and encodes the data of its events. Throws `InvalidAppend`. */
export function encodeAppend(streams: readonly StreamAppend[]): EncodedStreamAppend[] {
  const names = new Set(streams.map(({ stream }) => stream))
  if (names.size !== streams.length) throw new InvalidAppend('a stream occurs twice')
  const parts = streams.map(({ stream, expected, events, mustBeNew = false }) => {
    checkOwnName('stream', stream)
    checkExpected(expected)
    if (events.length === 0 && expected === 'any') {
      throw new InvalidAppend(`neither events nor a revision for stream ${stream}`)
    }
    return { stream, expected, events: events.map(encodeEvent), mustBeNew }
  })
  const count = eventCount(parts)
  if (count === 0) throw new InvalidAppend('no events')
  if (count > EVENTS_PER_APPEND_MAX) {
    throw new InvalidAppend(`${count} events in one append; at most ${EVENTS_PER_APPEND_MAX}`)
  }
  const bytes = parts.flatMap(({ events }) => events).reduce((sum, e) => sum + bytesOf(e), 0)
  const bytesMax = count === 1 ? EVENT_BYTES_MAX : APPEND_BYTES_MAX
  if (bytes > bytesMax) throw new InvalidAppend(`an append of ${bytes} bytes; at most ${bytesMax}`)
  return parts
}

export const eventCount = (parts: readonly { readonly events: readonly unknown[] }[]): number =>
  parts.reduce((sum, { events }) => sum + events.length, 0)

/**
 * Returns the revision that the stream must have: -1 for a new stream, or null if any revision is
 * allowed.
 */
export const exactRevision = (expected: ExpectedRevision): number | null =>
  expected === 'any' ? null : expected === 'none' ? -1 : expected

/**
 * Decodes a stored event. Each call parses the data again, so that callers can change the result.
 */
export function decodeEvent(
  { id, type, v, data, meta }: EncodedEvent,
  place: { readonly stream: string; readonly revision: number; readonly position: number },
): Recorded {
  return { type, v, data: JSON.parse(data), id, meta, ...place }
}

function encodeEvent(event: NewEvent): EncodedEvent {
  const { id, type, v, meta } = event
  checkOwnName('type', type)
  checkName('actor', meta.actor)
  if (meta.cause !== null) checkName('cause', meta.cause)
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) {
    throw new InvalidAppend(`"${id}" is not a UUID in lower case`)
  }
  if (!Number.isInteger(v) || v < 1 || v > 32_767) throw new InvalidAppend(`v ${v} of ${type}`)
  if (!Number.isSafeInteger(meta.at)) throw new InvalidAppend(`time ${meta.at} of ${type}`)
  return { id, type, v, data: encodeData(event), meta }
}

function encodeData({ type, data }: NewEvent): string {
  let text: string | undefined
  try {
    text = JSON.stringify(data)
  } catch (error) {
    throw new InvalidAppend(`the data of ${type} is not JSON: ${(error as Error).message}`)
  }
  if (text === undefined || !text.startsWith('{')) {
    throw new InvalidAppend(`the data of ${type} must be an object`)
  }
  return text
}

export const bytesOf = ({ type, data, meta }: EncodedEvent): number =>
  METADATA_BYTES +
  Buffer.byteLength(data) +
  (type.length + meta.actor.length + (meta.cause?.length ?? 0)) * 2

/** Throws `InvalidAppend` for a name that UTF-8 or Postgres can't store unchanged. */
function checkName(what: string, name: string): void {
  if (name.length === 0 || name.length > NAME_MAX) {
    throw new InvalidAppend(`${what}: 1 to ${NAME_MAX} characters, not ${name.length}`)
  }
  if (name.includes('\0') || !name.isWellFormed()) {
    throw new InvalidAppend(`${what}: contains a NUL or half a surrogate pair`)
  }
}

/** Throws `InvalidAppend` for names with `$`, which EventStoreDB reserves. */
function checkOwnName(what: string, name: string): void {
  checkName(what, name)
  if (name.startsWith('$')) throw new InvalidAppend(`${what}: "${name}" begins with $`)
}

function checkExpected(expected: ExpectedRevision): void {
  if (typeof expected === 'number' && (!Number.isSafeInteger(expected) || expected < 0)) {
    throw new InvalidAppend(`expected revision ${expected}`)
  }
}
