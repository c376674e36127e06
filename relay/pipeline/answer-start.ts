import { objectOf } from '#relay/canonical/json-values.ts'
import { isVendorError } from '#relay/canonical/read-provider-error-body.ts'
import { EVENT_BOUNDARY, eventData } from '#relay/canonical/sse-scanner.ts'
import type { StreamFormat } from '../dialects/stream-format.ts'
import { parseStreamEvent } from './parse-stream-event.ts'

/**
 * The maximum number of bytes that are held back before the answer. After more bytes than this, the
 * answer counts as begun.
 */
const HELD_BYTES_MAX = 64 * 1024

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
  /** True once the provider has reported counts in an event of their own, as after an answer. */
  hasUsage = false
  /** The data of an error that the provider sent instead of an answer, or null. */
  error: Buffer | null = null
  private held: Buffer[] = []
  private heldBytes = 0
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

  /** Reports whether the events in `bytes` come before the answer. If so, they are held back. */
  holds(bytes: Buffer): boolean {
    if (this.hasBegun) return false
    this.note(bytes)
    if (this.hasBegun || this.isReleased) return false
    this.held.push(bytes)
    return true
  }

  /** Searches the events in `bytes` for the begin of the answer, without holding them back. */
  note(bytes: Buffer): void {
    if (this.hasBegun) return
    this.heldBytes += bytes.length
    this.hasBegun =
      this.heldBytes > HELD_BYTES_MAX ||
      bytes
        .toString()
        .split(EVENT_BOUNDARY)
        .some((event) => this.isOfAnswer(Buffer.from(event)))
    if (this.hasBegun) this.error = null
  }

  private isOfAnswer(bytes: Buffer): boolean {
    const event = objectOf(parseStreamEvent(bytes))
    if (event !== null && this.beginsAnswer(event)) return true
    if (event !== null && this.announcesAnswer?.(event)) this.announcedAt ??= performance.now()
    if (event === null || !isVendorError(event)) this.hasEvent ||= eventData(bytes) !== null
    else this.error ??= Buffer.from(eventData(bytes) ?? bytes)
    return false
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
