import { objectOf } from '#relay/canonical/json-values.ts'
import { isVendorError } from '#relay/canonical/read-provider-error-body.ts'
import { EVENT_BOUNDARY, eventData } from '#relay/canonical/sse-scanner.ts'
import type { StreamFormat } from '../dialects/stream-format.ts'
import { parseStreamEvent } from './parse-stream-event.ts'

/**
 * The maximum number of bytes of each kind of event that are held back before the answer. After
 * more bytes of unknown events than this, the answer counts as begun. More comments, announcements
 * and errors show no answer, so they are dropped: a stream that ends after them must cost nothing.
 */
const HELD_BYTES_MAX = 64 * 1024

/**
 * The maximum length in bytes of an event that is parsed. A longer one is probably a picture, and
 * counts as an unknown event: parsed, it could need more than twenty times its length as memory.
 */
const PARSED_BYTES_MAX = 1024 * 1024

/** What an event says about the answer. */
type EventKind = 'answer' | 'announcement' | 'comment' | 'error' | 'ping' | 'unknown'

/**
 * The maximum time in milliseconds for which an event that announces the answer is held back. A
 * model may think for a minute after such an event, and its caller must see that the stream works.
 */
const ANNOUNCED_MS_MAX = 1_000

/**
 * Holds back the events before the first event of a stream's answer. Some providers send an error
 * in a format of its own with status 200. If such an event were forwarded, the stream would count
 * as begun: it could not be retried, and its input would be charged.
 */
export class AnswerStart {
  /** True once an event of the answer has arrived. Announcements do not count. */
  hasBegun: boolean
  /** True if an event other than an error came before the answer. */
  hasEvent = false
  /** True once the provider has reported output in an event of its own, as after an answer. */
  hasUsage = false
  /** The data of an error that the provider sent instead of an answer, or null. */
  error: Buffer | null = null
  private held: Buffer[] = []
  private readonly bytesOf = new Map<EventKind, number>()
  private isReleased = false
  /** The time at which the first event that announces the answer arrived, or null. */
  private announcedAt: number | null = null
  private readonly beginsAnswer: NonNullable<StreamFormat['beginsAnswer']>
  private readonly announcesAnswer: StreamFormat['announcesAnswer']

  constructor({ beginsAnswer, announcesAnswer }: StreamFormat) {
    this.hasBegun = beginsAnswer === undefined
    this.beginsAnswer = beginsAnswer ?? (() => true)
    this.announcesAnswer = announcesAnswer
  }

  /**
   * Reports whether the announcement of the answer has been held back for long enough at `now`, a
   * value of `performance.now()`. The caller must then call `take`.
   */
  isOverdue(now: number): boolean {
    if (this.hasBegun || this.isReleased || this.error !== null) return false
    return this.announcedAt !== null && now - this.announcedAt > ANNOUNCED_MS_MAX
  }

  /**
   * Reports whether the events in `bytes` come before the answer and are held back. Surplus events
   * are dropped.
   */
  holds(bytes: Buffer): boolean {
    if (this.hasBegun) return false
    const kinds = this.note(bytes)
    // An error stays held back after the release, so that it is shown in the caller's format.
    if (this.hasBegun || (this.isReleased && this.error === null)) return false
    if (kinds.some((kind) => this.canHold(kind, bytes.length))) this.held.push(bytes)
    return true
  }

  /**
   * Searches the events in `bytes` for the begin of the answer, without holding them back. Returns
   * the kinds of the events.
   */
  note(bytes: Buffer): readonly EventKind[] {
    if (this.hasBegun) return []
    const kinds = new Set<EventKind>()
    for (const text of bytes.toString().split(EVENT_BOUNDARY)) {
      if (text === '') continue
      const event = Buffer.from(text)
      const kind = this.kindOf(event)
      kinds.add(kind)
      this.bytesOf.set(kind, (this.bytesOf.get(kind) ?? 0) + event.length)
    }
    this.hasBegun = kinds.has('answer') || (this.bytesOf.get('unknown') ?? 0) > HELD_BYTES_MAX
    if (this.hasBegun) this.error = null
    return [...kinds]
  }

  /** Also notes an error, an announcement, and that an event has arrived. */
  private kindOf(bytes: Buffer): EventKind {
    const isParsed = bytes.length <= PARSED_BYTES_MAX
    const event = isParsed ? objectOf(parseStreamEvent(bytes)) : null
    if (event !== null && this.beginsAnswer(event)) return 'answer'
    const data = eventData(bytes)
    const isError = event !== null && isVendorError(event)
    if (isError) this.error ??= Buffer.from(data ?? bytes)
    else this.hasEvent ||= data !== null
    if (event === null) return data === null ? 'comment' : 'unknown'
    const isAnnouncement = this.announcesAnswer?.(event) === true
    if (isAnnouncement) this.announcedAt ??= performance.now()
    if (isError) return 'error'
    if (isAnnouncement) return 'announcement'
    return event.type === 'ping' ? 'ping' : 'unknown'
  }

  /**
   * Reports whether `length` bytes, in which events of `kind` occur and which are already counted,
   * may be held back. The first events that are announced or unknown are always held back, because
   * the caller needs them if the answer follows.
   */
  private canHold(kind: EventKind, length: number): boolean {
    const counted = this.bytesOf.get(kind) ?? 0
    const isNeeded = kind === 'announcement' || kind === 'unknown'
    return (isNeeded ? counted - length : counted) <= HELD_BYTES_MAX
  }

  /** Notes an event with only usage. Such an event is not held back. */
  noteUsage(): void {
    this.hasEvent = true
    this.hasUsage = true
  }

  /** Returns the bytes that were held back, once. No more bytes are held back. */
  take(): readonly Buffer[] {
    const { held } = this
    this.isReleased = true
    this.held = []
    return held.length > 1 ? [Buffer.concat(held)] : held
  }
}
