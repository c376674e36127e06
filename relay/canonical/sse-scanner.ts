/** Receives the events of a stream. The calls together carry every byte once and in order. */
export type SseSink = {
  /** Receives whole events that need no inspection. */
  readonly pass: (bytes: Buffer) => void
  /** Receives one whole event whose bytes suggest usage, an error or an empty list of choices. */
  readonly marked: (bytes: Buffer) => void
  /** Receives the event whose data is `[DONE]`. */
  readonly done: (bytes: Buffer) => void
}

/** A stream with a longer line or event is not treated as an event stream any more. */
export const EVENT_BYTES_MAX = 1024 * 1024

const LF = 10
const CR = 13
const USAGE = Buffer.from('"usage"')
const ERROR = Buffer.from('"error"')
const EMPTY = Buffer.from('[]')
const CHOICES = Buffer.from('"choices"')
const NOTHING = Buffer.alloc(0)

/**
 * Cuts a stream of server-sent events (WHATWG HTML, section 9.2) at its blank lines without
 * changing a byte. Chunks of whole events are forwarded without a copy. A marker inside a JSON text
 * appears as `\"usage\"` and can't be mistaken. Lines end with LF, CR LF or CR.
 */
export class SseScanner {
  /** Becomes true when an event exceeds its bound. The bytes after it are not inspected. */
  isOverflown = false
  private readonly sink: SseSink
  private carry: Buffer = NOTHING
  private carried = 0
  private hasSeenCr = false
  private isAfterCr = false

  constructor(sink: SseSink) {
    this.sink = sink
  }

  push(chunk: Buffer): void {
    if (this.isOverflown || chunk.length === 0) return
    const isJoined = this.carried > 0
    const bytes = isJoined ? this.joined(chunk) : chunk
    const end = this.cut(bytes)
    const left = bytes.length - end
    // The events are views of the carry buffer, and the sink may keep them, so a new buffer is
    // used.
    if (isJoined && end > 0) this.carry = NOTHING
    if (left > EVENT_BYTES_MAX) {
      this.isOverflown = true
      this.carried = 0
      return
    }
    if (left > 0 && (!isJoined || end > 0)) this.keep(bytes.subarray(end))
    this.carried = left
  }

  /** Returns the bytes of an event that was never ended by a blank line. */
  rest(): Buffer {
    return this.carry.subarray(0, this.carried)
  }

  /**
   * Passes whole events to the sink and returns the offset at which the incomplete event begins.
   */
  private cut(bytes: Buffer): number {
    this.hasSeenCr ||= bytes.includes(CR)
    const marks = new Marks(bytes)
    let passFrom = 0
    // The LF of a CR LF that is split over two chunks belongs to the previous event.
    let eventStart = this.isAfterCr && bytes[0] === LF ? 1 : 0
    this.isAfterCr = false
    for (;;) {
      const eventEnd = this.hasSeenCr ? this.endOf(bytes, eventStart) : endByLf(bytes, eventStart)
      if (eventEnd < 0) break
      const isMarked = marks.isIn(eventStart, eventEnd)
      const isDone = !isMarked && isDoneEvent(bytes, eventStart, eventEnd)
      if (isMarked || isDone) {
        if (passFrom < eventStart) this.sink.pass(view(bytes, passFrom, eventStart))
        const event = view(bytes, eventStart, eventEnd)
        if (isDone) this.sink.done(event)
        else this.sink.marked(event)
        passFrom = eventEnd
      }
      eventStart = eventEnd
    }
    if (passFrom < eventStart) this.sink.pass(view(bytes, passFrom, eventStart))
    return eventStart
  }

  /** Does the same as `endByLf` for streams that contain carriage returns. */
  private endOf(bytes: Buffer, start: number): number {
    let lineStart = start
    for (let at = lineStart; at < bytes.length; at += 1) {
      const byte = bytes[at]
      if (byte !== LF && byte !== CR) continue
      const end = byte === CR && bytes[at + 1] === LF ? at + 2 : at + 1
      if (at === lineStart) {
        this.isAfterCr = byte === CR && end === bytes.length
        return end
      }
      lineStart = end
      at = end - 1
    }
    return -1
  }

  private keep(open: Buffer): void {
    if (this.carry.length < open.length) {
      this.carry = Buffer.allocUnsafeSlow(Math.max(1_024, open.length * 2))
    }
    open.copy(this.carry)
  }

  /**
   * Appends the chunk to the carry buffer, in place while it fits, so that many small chunks stay
   * cheap.
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

/** An event keeps at most this multiple of its own length in memory. */
const PINNED_FACTOR = 8

/**
 * Returns the events between two offsets. They are copied only when they are a small part of their
 * buffer: a view keeps the whole buffer alive, so a few bytes behind a large event would hold its
 * megabyte for as long as they are kept.
 */
function view(bytes: Buffer, start: number, end: number): Buffer {
  const events = bytes.subarray(start, end)
  return bytes.buffer.byteLength > events.length * PINNED_FACTOR ? Buffer.from(events) : events
}

/**
 * Returns the offset behind the blank line that ends the event at `start`, or -1 when the line is
 * not there yet.
 */
function endByLf(bytes: Buffer, start: number): number {
  let lineStart = start
  for (;;) {
    const at = bytes.indexOf(LF, lineStart)
    if (at < 0) return -1
    if (at === lineStart) return at + 1
    lineStart = at + 1
  }
}

/** Remembers where the next marker is, so that a chunk is searched once and not once per event. */
class Marks {
  private readonly bytes: Buffer
  private usageAt: number
  private errorAt: number
  private emptyAt: number

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.usageAt = nextOf(bytes, USAGE, 0)
    this.errorAt = nextOf(bytes, ERROR, 0)
    this.emptyAt = nextEmpty(bytes, 0)
  }

  isIn(start: number, end: number): boolean {
    if (this.usageAt < start) this.usageAt = nextOf(this.bytes, USAGE, start)
    if (this.errorAt < start) this.errorAt = nextOf(this.bytes, ERROR, start)
    if (this.emptyAt < start) this.emptyAt = nextEmpty(this.bytes, start)
    return this.usageAt < end || this.errorAt < end || this.emptyAt < end
  }
}

/**
 * Returns the next place where the key has a value that is not null: OpenAI sends `"usage":null`
 * with every chunk.
 */
function nextOf(bytes: Buffer, key: Buffer, from: number): number {
  for (let at = bytes.indexOf(key, from); at >= 0; at = bytes.indexOf(key, at + 1)) {
    let value = at + key.length
    while (bytes[value] === 32 || bytes[value] === 58) value += 1
    if (bytes[value] !== 110) return at
  }
  return bytes.length
}

/**
 * Returns the next empty list of choices. Few events contain an empty list, so the search is for it
 * and not for `choices`, which every event contains.
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

const DONE = '[DONE]'

function isDoneEvent(bytes: Buffer, start: number, end: number): boolean {
  // The last character is enough for nearly every event, because its JSON ends with a brace.
  let last = end - 1
  while (last > start && (bytes[last] ?? 0) <= 32) last -= 1
  if (bytes[last] !== 93 || end - start > 256) return false
  return eventData(bytes.subarray(start, end))?.trim() === DONE
}

/**
 * Returns the event's data as a client would receive it (its `data:` lines, joined), or null if it
 * has none.
 */
export function eventData(event: Buffer): string | null {
  let data: string | null = null
  for (const line of event.toString('utf8').split(/\r\n|\n|\r/)) {
    if (!line.startsWith('data')) continue
    if (line.length > 4 && line[4] !== ':') continue
    const value = line.slice(line[5] === ' ' ? 6 : 5)
    data = data === null ? value : `${data}\n${value}`
  }
  return data
}
