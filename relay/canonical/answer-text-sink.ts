import type { ToolName } from '#domain/pricing/usage.ts'
import { EVENT_BOUNDARY, eventData } from './sse-scanner.ts'

/** Receives the contents of an answer, in their order, while the answer is read. */
export type TextSink = {
  /**
   * Receives one piece of text. `choice` is the index of the choice in the answer. `place` is a
   * number that identifies the message field or tool call with the text.
   */
  readonly text: (choice: number, place: number, piece: string) => void
  /**
   * Receives a text that is screened, but not counted for the bill, because no provider charges for
   * it.
   */
  readonly uncountedText?: (piece: string) => void
  /**
   * Receives the length of a base64 value (a picture, a sound or a signature) in characters.
   * `isImage` is true if the value is known to be a picture in the answer.
   */
  readonly data: (characters: number, isImage?: boolean) => void
  /**
   * Receives one use of a tool that the provider runs. Uses with the same `name` and `id` count
   * once. If `isBilled` is false, an earlier use with this id is no longer counted. By default, a
   * use is billed.
   */
  readonly tool?: (name: ToolName, id?: string, isBilled?: boolean) => void
  /**
   * Receives a number of images in an answer that is billed per image. `isPartial` is true if a
   * better version of the image may follow.
   */
  readonly images?: (count: number, isPartial: boolean) => void
}

/**
 * Passes the texts, data, tool uses and images in `json` to the sink. `json` is a complete answer,
 * or the data of one stream event.
 */
export type ReadTexts = (json: string, sink: TextSink) => void

/**
 * Passes the contents of `json` to the sink. If `readTexts` throws, `json` itself is passed as one
 * text. An answer that can't be read would otherwise not be charged or not be screened.
 */
export function readTextsOrWhole(json: string, readTexts: ReadTexts, sink: TextSink): void {
  try {
    readTexts(json, sink)
  } catch {
    sink.text(0, 0, json)
  }
}

/** Reads the data of each event in a sequence of complete server-sent events with `readTexts`. */
export function readEventTexts(events: string, readTexts: ReadTexts, sink: TextSink): void {
  for (const event of events.split(EVENT_BOUNDARY)) {
    const data = eventData(event)
    if (data !== null) readTextsOrWhole(data, readTexts, sink)
  }
}
