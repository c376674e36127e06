import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { IsLastEvent } from '#relay/canonical/sse-scanner.ts'

/** The meaning of an inspected event (see `StreamFormat.marks`). */
export type EventMeaning = {
  /** The usage in the event. Undefined if there is none. */
  readonly usage: unknown
  readonly model: unknown
  /** The service tier that the event states. The value is not checked. */
  readonly serviceTier?: unknown
  /** True if the provider ends the stream with this error. */
  readonly isError: boolean
  /**
   * The error in the form of an error response's body. Omitted if the event already has this form.
   */
  readonly error?: object
  /**
   * True if the event contains only usage. Such an event is sent only to callers who requested the
   * usage.
   */
  readonly isUsageOnly: boolean
  /** True if this is the last event of the stream. */
  readonly isLast: boolean
  /**
   * Set for a stream with `endsWithConnection`. The stream may end after a `final` event. A
   * `trailing` event belongs to a final event that precedes it, and the stream may end after it as
   * well.
   */
  readonly ending?: 'final' | 'trailing' | null
}

/** Describes how a format's stream is read without parsing most of its events. */
export type StreamFormat = {
  readonly isLastEvent: IsLastEvent
  /**
   * True if the stream may have no last event. It is then complete if the connection closes after
   * an event with the ending `final` and the `trailing` events that follow it.
   */
  readonly endsWithConnection?: true
  /**
   * True if the stream is read to its end even after the caller has disconnected, because the
   * provider charges for all of it.
   */
  readonly isAlwaysReadOn?: true
  /**
   * True if the gateway sends a complete answer to a request for a stream as the last event of a
   * stream. Some providers do not stream images, and a client that expects a stream would find no
   * event in a plain answer.
   */
  readonly streamsPlainAnswers?: true
  /**
   * The texts, usually keys with their quotes, that mark an event for inspection. A key whose value
   * is null does not count. The default is the keys that OpenAI's format needs. Error events and
   * events with an empty list of choices are always inspected.
   */
  readonly marks?: readonly string[]
  /** True if answers repeat parts of the request, such as its instructions and tools. */
  readonly repeatsRequest?: true
  /** The maximum length of an event in bytes. The default is `EVENT_BYTES_MAX`. */
  readonly eventBytesMax?: number
  /** Matches an event after which, as a rule, only the usage follows. */
  readonly finishReason: RegExp
  /** `isErrorEvent` is true for an event whose name is `error`. */
  readonly readEvent: (event: object, isErrorEvent: boolean) => EventMeaning
  /**
   * Reports whether an event belongs to an answer. The events before the first such event are held
   * back. If the stream ends before it, the stream has no answer. Omitted if every event counts as
   * a part of the answer.
   */
  readonly beginsAnswer?: (event: JsonObject) => boolean
  /**
   * Reports whether an event that does not begin the answer shows that the answer follows, for
   * example because it has only the role of a message. Such an event is held back for a short time
   * only. Omitted if the format has no such events.
   */
  readonly announcesAnswer?: (event: JsonObject) => boolean
  /** The event that keeps an idle connection open. The default is a comment. */
  readonly ping?: string
  /** Combines the usage so far with the usage in a later event. */
  readonly combineUsage: (earlier: unknown, later: unknown) => unknown
  /**
   * Returns the raw output count of a usage, or undefined if the usage has none. Omitted if only
   * the last event of a stream contains a usage.
   */
  readonly outputCount?: (usage: unknown) => unknown
}
