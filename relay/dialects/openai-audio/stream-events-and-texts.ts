import type { ReadTexts } from '#relay/canonical/answer-text-sink.ts'
import { type JsonObject, objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import type { StreamFormat } from '../stream-format.ts'

const LAST =
  /^(?:event: ?|data: ?\{\s*"type"\s*:\s*")(?:speech\.audio|transcript\.text)\.done["\s]|^data: ?\[DONE\]/m
const LAST_BYTES = 96
const ENDS: ReadonlySet<unknown> = new Set(['speech.audio.done', 'transcript.text.done'])

/** The streams of the audio endpoints. Their last event contains the usage. */
const AUDIO_STREAM: StreamFormat = {
  // Only `[DONE]` counts as the last event here, because the last event is not read. The other
  // final events contain the usage and must be read.
  isLastEvent: (bytes, start, end) =>
    /^data: ?\[DONE\]/m.test(bytes.toString('latin1', start, Math.min(end, start + LAST_BYTES))),
  finishReason: LAST,
  marks: ['"usage"', '"error"', '.done"'],
  readEvent: (event, isErrorEvent) => {
    const { type, usage, error } = event as JsonObject
    const isError =
      isErrorEvent || type === 'error' || (type === undefined && objectOf(error) !== null)
    return {
      usage: objectOf(usage) ?? undefined,
      model: undefined,
      isError,
      isUsageOnly: false,
      isLast: ENDS.has(type),
    }
  },
  combineUsage: (earlier, later) => later ?? earlier,
}

export const SPEECH_STREAM: StreamFormat = { ...AUDIO_STREAM, eventBytesMax: 4 * 1024 * 1024 }
export const TRANSCRIPT_STREAM = AUDIO_STREAM

/** Passes the length of the audio in an event to the sink. */
export const readSpeechTexts: ReadTexts = (json, sink) => {
  const { audio } = parsedObject(json) ?? {}
  if (typeof audio === 'string') sink.data(audio.length)
}

const TIMES = /^(?:\d+|WEBVTT.*|[\d:.,]+ --> .*)$/gm

/**
 * Passes the text of a transcript to the sink. `text` is JSON, plain text or subtitles. The times
 * and numbers of subtitles are removed.
 */
export const readTranscriptTexts: ReadTexts = (text, sink) => {
  const answer = text.trimStart().startsWith('{') ? parsedObject(text) : null
  if (answer === null) return sink.text(0, 0, text.replace(TIMES, ''))
  const { type, delta, text: whole } = answer
  // Segments and the last event repeat text that earlier events contained.
  const piece = type === undefined ? whole : type === 'transcript.text.delta' ? delta : undefined
  if (typeof piece === 'string') sink.text(0, 0, piece)
}
