import { type JsonObject, objectOf, objectsOf } from '#relay/canonical/json-values.ts'
import {
  candidatesCount,
  combineGeminiUsage,
} from '#relay/canonical/read-gemini-usage-for-billing.ts'
import { hasCounts } from '../check-successful-answer.ts'
import type { EventMeaning, StreamFormat } from '../stream-format.ts'

const isReason = (reason: unknown): boolean =>
  typeof reason === 'string' && reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED'

/**
 * Reports whether the stream may end after this chunk, because the chunk ends a candidate or
 * refuses the prompt.
 */
function isFinal({ candidates, promptFeedback }: JsonObject): boolean {
  const ends = Array.isArray(candidates) ? candidates : []
  return (
    ends.some((candidate) => isReason(objectOf(candidate)?.finishReason)) ||
    typeof objectOf(promptFeedback)?.blockReason === 'string'
  )
}

function readEvent(event: JsonObject, isErrorEvent: boolean): EventMeaning {
  const { candidates } = event
  const isEmpty = !Array.isArray(candidates) || candidates.length === 0
  return {
    usage: objectOf(event.usageMetadata) ?? undefined,
    model: event.modelVersion,
    isError: isErrorEvent || objectOf(event.error) !== null,
    isUsageOnly: false,
    isLast: false,
    ending: isFinal(event) ? 'final' : isEmpty ? 'trailing' : null,
  }
}

/**
 * The stream of `streamGenerateContent`. The stream has no last event. It is complete when the
 * connection closes after a chunk that has a finish reason or refuses the prompt. Pictures are not
 * split, so an event may be as long as an answer.
 */
export const GEMINI_STREAM: StreamFormat = {
  isLastEvent: () => false,
  endsWithConnection: true,
  marks: ['"usageMetadata"', '"error"', '"finishReason"', '"promptFeedback"'],
  eventBytesMax: 32 * 1024 * 1024,
  finishReason: /"finishReason"\s*:\s*"/,
  readEvent: (event, isErrorEvent) => readEvent(event as JsonObject, isErrorEvent),
  beginsAnswer: ({ candidates, promptFeedback, usageMetadata }) =>
    objectsOf(candidates).length > 0 ||
    objectOf(promptFeedback) !== null ||
    hasCounts(usageMetadata),
  combineUsage: combineGeminiUsage,
  outputCount: candidatesCount,
}

/**
 * Renders a complete answer as a stream with one event on one line. Line ends in JSON are only
 * white space, so they are replaced by spaces.
 */
export const streamOfGeneration = (body: Buffer): string =>
  `data: ${body.toString('utf8').replaceAll(/[\r\n]+/g, ' ')}\n\n`
