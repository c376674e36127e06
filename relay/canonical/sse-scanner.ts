import { beginsLikeAnswer } from './begins-like-answer.ts'

/**
 * Receives the events of a stream. Each event is passed to exactly one of the callbacks, in the
 * order of the stream.
 */
export type SseSink = {
  /** Receives complete events that need no inspection. */
  readonly pass: (bytes: Buffer) => void
  /**
   * Receives one event that must be inspected, because it probably contains usage, an error or an
   * empty list of choices.
   */
  readonly onMarkedEvent: (bytes: Buffer) => void
  /** Receives the last event of the stream. */
  readonly onLastEvent: (bytes: Buffer) => void
}

/** Reports whether the event from `start` to `end` is the last event of the stream. */
export type IsLastEvent = (bytes: Buffer, start: number, end: number) => boolean

/** The usual maximum length of an event in bytes. The scanner stops at a longer event. */
export const EVENT_BYTES_MAX = 1024 * 1024

/** The number of bytes that the scanner keeps of an event that is too long. */
const OVERFLOW_BYTES = 1_024

const LF = 10
const CR = 13
/** The keys that mark an event in OpenAI's format for inspection if the key's value is not null. */
const OPENAI_MARKS: readonly string[] = ['"usage"', '"error"']
/**
 * The field that names the event's type. Its value is `error` in error events. Some providers send
 * error events whose data has no member `error`.
 */
const EVENT_FIELD = Buffer.from('event:')
const ERROR_NAME = Buffer.from('error')
const ERROR_EVENT_LINE = /^event: ?error/m
const EMPTY = Buffer.from('[]')
const CHOICES = Buffer.from('"choices"')
const NOTHING = Buffer.alloc(0)

/**
 * Splits a stream of server-sent events (WHATWG HTML, section 9.2) at its blank lines. No byte is
 * changed. Lines end with LF, CR LF or CR. JSON is not parsed, because a key such as `"usage"` can
 * be found by its bytes. Text inside a JSON string can't be mistaken for a key, because quotes
 * inside strings are escaped (`\"usage\"`).
 */
export class SseScanner {
  /**
   * The first bytes of an event that is longer than `eventBytesMax`, or null. Once this is set, the
   * scanner ignores all later bytes.
   */
  overflow: Buffer | null = null
  private readonly sink: SseSink
  private readonly isLastEvent: IsLastEvent
  private readonly keys: readonly Buffer[]
  private readonly eventBytesMax: number
  private carry: Buffer = NOTHING
  private carried = 0
  /** The offset of the last line of the incomplete event, from the start of the event. */
  private lineFrom = 0
  /**
   * The offset, from the start of the incomplete event, at which the search continues. It keeps the
   * search of an event in many chunks linear in time.
   */
  private searchedTo = 0
  private hasSeenCr = false
  private isAfterCr = false

  /**
   * `marks` are keys with their quotes. An event that contains one of these keys with a value other
   * than null must be inspected.
   */
  constructor(
    sink: SseSink,
    isLastEvent: IsLastEvent,
    marks = OPENAI_MARKS,
    eventBytesMax = EVENT_BYTES_MAX,
  ) {
    this.sink = sink
    this.isLastEvent = isLastEvent
    this.keys = marks.map((mark) => Buffer.from(mark))
    this.eventBytesMax = eventBytesMax
  }

  /** True if an event was too large, and its data begins like a JSON object without an error. */
  get hasLargeObject(): boolean {
    const event = this.overflow?.toString() ?? ''
    const data = eventData(event)
    return data !== null && !ERROR_EVENT_LINE.test(event) && beginsLikeAnswer(data)
  }

  push(chunk: Buffer): void {
    if (this.overflow !== null || chunk.length === 0) return
    this.hasSeenCr ||= chunk.includes(CR)
    const isJoined = this.carried > 0
    const bytes = isJoined ? this.joined(chunk) : chunk
    const end = this.cut(bytes)
    const left = bytes.length - end
    // The carry buffer is not reused, because the sink may still hold events that are views of it.
    if (isJoined && end > 0) this.carry = NOTHING
    if (left > this.eventBytesMax) {
      this.overflow = Buffer.from(bytes.subarray(end, end + OVERFLOW_BYTES))
      this.carry = NOTHING
      this.carried = 0
      return
    }
    if (left > 0 && (!isJoined || end > 0)) this.keep(bytes.subarray(end))
    this.carried = left
  }

  /**
   * Returns the bytes after the last blank line. If the stream has ended without a blank line,
   * these bytes are the last event.
   */
  rest(): Buffer {
    return this.carry.subarray(0, this.carried)
  }

  /**
   * Passes all complete events in the bytes to the sink. Returns the offset at which the first
   * incomplete event begins.
   */
  private cut(bytes: Buffer): number {
    // The search for marks reads all bytes, so it starts only once a complete event is found.
    let marks: Marks | undefined
    let passFrom = 0
    // If a CR LF is split over two chunks, the LF belongs to the previous event.
    let eventStart = this.isAfterCr && bytes[0] === LF ? 1 : 0
    this.isAfterCr = false
    for (;;) {
      const eventEnd = this.endOf(bytes, eventStart)
      if (eventEnd < 0) break
      marks ??= new Marks(bytes, this.keys)
      const isMarked = marks.isIn(eventStart, eventEnd)
      const isDone = !isMarked && this.isLastEvent(bytes, eventStart, eventEnd)
      if (isMarked || isDone) {
        if (passFrom < eventStart) this.sink.pass(view(bytes, passFrom, eventStart))
        const event = view(bytes, eventStart, eventEnd)
        if (isDone) this.sink.onLastEvent(event)
        else this.sink.onMarkedEvent(event)
        passFrom = eventEnd
      }
      eventStart = eventEnd
    }
    if (passFrom < eventStart) this.sink.pass(view(bytes, passFrom, eventStart))
    return eventStart
  }

  /**
   * Returns the offset after the event that begins at `start`, or -1 if the event is incomplete. If
   * earlier chunks contained a part of the event, the search continues where it stopped. The fast
   * search `endByLf` supports only lines that end with LF, so it is used until the stream contains
   * a CR.
   */
  private endOf(bytes: Buffer, start: number): number {
    const lineStart = start + this.lineFrom
    const from = start + this.searchedTo
    this.lineFrom = 0
    this.searchedTo = 0
    return this.hasSeenCr
      ? this.endByAny(bytes, start, lineStart, from)
      : this.endByLf(bytes, start, lineStart, from)
  }

  /**
   * Returns the offset after an event whose lines may end with LF, CR LF or CR. Returns -1 if the
   * event is incomplete. The search begins at `from`. `firstLine` is the offset of the line that
   * contains `from`.
   */
  private endByAny(bytes: Buffer, start: number, firstLine: number, from: number): number {
    let lineStart = firstLine
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at]
      if (byte !== LF && byte !== CR) continue
      const end = byte === CR && bytes[at + 1] === LF ? at + 2 : at + 1
      if (at === lineStart) {
        this.isAfterCr = byte === CR && end === bytes.length
        return end
      }
      // The LF of this CR may be in the next chunk, so the search continues at the CR.
      if (byte === CR && end === bytes.length) return this.pause(start, lineStart, at)
      lineStart = end
      at = end - 1
    }
    return this.pause(start, lineStart, bytes.length)
  }

  private endByLf(bytes: Buffer, start: number, firstLine: number, from: number): number {
    let lineStart = firstLine
    let at = bytes.indexOf(LF, from)
    for (; at >= 0; at = bytes.indexOf(LF, lineStart)) {
      if (at === lineStart) return at + 1
      lineStart = at + 1
    }
    return this.pause(start, lineStart, bytes.length)
  }

  /** Stores how far the incomplete event at `start` was searched. */
  private pause(start: number, lineStart: number, searchedTo: number): -1 {
    this.lineFrom = lineStart - start
    this.searchedTo = searchedTo - start
    return -1
  }

  private keep(open: Buffer): void {
    if (this.carry.length < open.length) {
      this.carry = Buffer.allocUnsafeSlow(Math.max(1_024, open.length * 2))
    }
    open.copy(this.carry)
  }

  /**
   * Appends a chunk to the carry buffer, which holds the beginning of an incomplete event, and
   * returns both together. The buffer is enlarged only if the chunk does not fit, so that many
   * small chunks cost little time.
   */
  private joined(chunk: Buffer): Buffer {
    const length = this.carried + chunk.length
    if (this.carry.length < length) {
      const larger = Buffer.allocUnsafeSlow(length * 2)
      this.carry.copy(larger, 0, 0, this.carried)
      this.carry = larger
    }
    chunk.copy(this.carry, this.carried)
    return this.carry.subarray(0, length)
  }
}

/** An event is copied if its buffer is more than this many times as long as the event. */
const PINNED_FACTOR = 8

/**
 * Returns the bytes from `start` to `end`. If these bytes are a small part of the buffer, they are
 * copied, because a view would keep the whole buffer in memory.
 */
function view(bytes: Buffer, start: number, end: number): Buffer {
  const events = bytes.subarray(start, end)
  return bytes.buffer.byteLength > events.length * PINNED_FACTOR ? Buffer.from(events) : events
}

/**
 * Finds the events that must be inspected: those with one of the keys, with the type `error`, or
 * with an empty list of choices. For each key and for each of the two other kinds, the offset of
 * the next match is stored, so that a chunk with many events is searched only once.
 */
class Marks {
  private readonly bytes: Buffer
  private readonly keys: readonly Buffer[]
  private readonly keysAt: number[]
  private emptyAt: number
  private errorEventAt: number

  constructor(bytes: Buffer, keys: readonly Buffer[]) {
    this.bytes = bytes
    this.keys = keys
    this.keysAt = keys.map((key) => nextOf(bytes, key, 0))
    this.emptyAt = nextEmpty(bytes, 0)
    this.errorEventAt = nextErrorEvent(bytes, 0)
  }

  isIn(start: number, end: number): boolean {
    const { bytes, keys, keysAt } = this
    let isMarked = false
    for (let index = 0; index < keys.length; index += 1) {
      let at = keysAt[index] as number
      if (at < start) {
        at = nextOf(bytes, keys[index] as Buffer, start)
        keysAt[index] = at
      }
      if (at < end) isMarked = true
    }
    if (this.emptyAt < start) this.emptyAt = nextEmpty(bytes, start)
    if (this.errorEventAt < start) this.errorEventAt = nextErrorEvent(bytes, start)
    return isMarked || this.emptyAt < end || this.errorEventAt < end
  }
}

/**
 * Returns the offset of the next `key` whose value is not null, or the length of the bytes if there
 * is none. OpenAI sends `"usage":null` with every chunk.
 */
function nextOf(bytes: Buffer, key: Buffer, from: number): number {
  for (let at = bytes.indexOf(key, from); at >= 0; at = bytes.indexOf(key, at + 1)) {
    let value = at + key.length
    while (bytes[value] === 32 || bytes[value] === 58) value += 1
    if (bytes[value] !== 110) return at
  }
  return bytes.length
}

function nextErrorEvent(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(EVENT_FIELD, from); at >= 0; ) {
    const behind = at + EVENT_FIELD.length
    const start = bytes[behind] === 32 ? behind + 1 : behind
    if (bytes.subarray(start, start + ERROR_NAME.length).equals(ERROR_NAME)) return at
    at = bytes.indexOf(EVENT_FIELD, behind)
  }
  return bytes.length
}

/**
 * Returns the offset of the next empty list of choices, or the length of the bytes if there is
 * none.
 */
function nextEmpty(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(EMPTY, from); at >= 0; at = bytes.indexOf(EMPTY, at + 1)) {
    let end = at
    while (bytes[end - 1] === 32 || bytes[end - 1] === 58) end -= 1
    const start = end - CHOICES.length
    if (start >= from && CHOICES.compare(bytes, start, end) === 0) return at
  }
  return bytes.length
}

/** Matches the blank line after an event, with line ends of any kind. */
export const EVENT_BOUNDARY = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/

/**
 * Returns the values of an event's `data:` lines, joined by line feeds. Returns null if there are
 * none.
 */
export function eventData(event: Buffer | string): string | null {
  let data: string | null = null
  for (const line of event.toString().split(/\r\n|\n|\r/)) {
    if (!line.startsWith('data')) continue
    if (line.length > 4 && line[4] !== ':') continue
    const value = line.slice(line[5] === ' ' ? 6 : 5)
    data = data === null ? value : `${data}\n${value}`
  }
  return data
}
