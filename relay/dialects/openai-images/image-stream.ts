import { type JsonObject, objectOf } from '#relay/canonical/json-values.ts'
import { OPENAI_STREAM } from '../openai-chat/stream-events.ts'
import type { EventMeaning, StreamFormat } from '../wire-format.ts'

const ENDS: ReadonlySet<unknown> = new Set(['image_generation.completed', 'image_edit.completed'])

function readEvent(event: object, isErrorEvent: boolean): EventMeaning {
  const { type, usage, error, model } = event as JsonObject
  return {
    usage: objectOf(usage) ?? undefined,
    model,
    isError: isErrorEvent || type === 'error' || objectOf(error) !== null,
    isUsageOnly: false,
    isLast: false,
    ending: ENDS.has(type) ? 'final' : null,
  }
}

/**
 * The stream of one image. It ends with `[DONE]`, or when the connection closes after the event
 * with the complete image. An event contains a complete image, so it may be as long as an answer.
 * If the caller disconnects, the stream is read to its end, because the provider charges for the
 * image.
 */
export const IMAGE_STREAM: StreamFormat = {
  isLastEvent: OPENAI_STREAM.isLastEvent,
  endsWithConnection: true,
  isAlwaysReadOn: true,
  marks: ['"usage"', '"error"', ...[...ENDS].map((name) => `"${String(name)}"`)],
  eventBytesMax: 32 * 1024 * 1024,
  finishReason: /"type"\s*:\s*"image_[a-z]+\.completed"/,
  readEvent,
  combineUsage: (earlier, later) => later ?? earlier,
}
