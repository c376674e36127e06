import { combineReports } from '#relay/canonical/combine-usage-reports.ts'
import { objectOf, objectOrEmpty, objectsOf, parsedObject } from '#relay/canonical/json-values.ts'
import { eventData } from '#relay/canonical/sse-scanner.ts'
import type { EventMeaning, StreamFormat } from '../stream-format.ts'
import {
  errorOfChoices,
  isAnnouncement,
  isEmptyInterruption,
  isErrorValue,
} from './error-of-failed-choice.ts'
import { usageInEvent } from './usage-in-answer.ts'

const DONE = '[DONE]'
const CLOSE_BRACKET = 93
const DONE_BYTES_MAX = 256

function isDoneEvent(bytes: Buffer, start: number, end: number): boolean {
  // Checking the last byte excludes nearly all events quickly: `[DONE]` ends with a bracket, but
  // JSON objects end with a brace.
  let last = end - 1
  while (last > start && (bytes[last] ?? 0) <= 32) last -= 1
  if (bytes[last] !== CLOSE_BRACKET || end - start > DONE_BYTES_MAX) return false
  return eventData(bytes.subarray(start, end))?.trim() === DONE
}

/** The members that may occur in an event with only usage and no choices. */
const USAGE_CHUNK = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage'],
  ...['system_fingerprint', 'service_tier', 'obfuscation'],
])

type Event = {
  readonly usage?: unknown
  readonly object?: unknown
  readonly error?: unknown
  readonly choices?: unknown
  readonly model?: unknown
  readonly service_tier?: unknown
}

/**
 * Reports whether an event without choices contains only usage. NOTE: Azure sends events with
 * content filter results and no choices. If the `usage` in an event is null, the event's other
 * members decide.
 */
const isOfUsage = (event: Event): boolean =>
  'usage' in event &&
  (event.usage !== null || Object.keys(event).every((key) => USAGE_CHUNK.has(key)))

function readEvent(event: Event, isErrorEvent: boolean): EventMeaning {
  const { error, choices, model, service_tier: serviceTier } = event
  const hasChoices = Array.isArray(choices) && choices.length > 0
  // vLLM sends errors without a member `error`.
  const isError = isErrorEvent || isErrorValue(error) || (!hasChoices && event.object === 'error')
  const failed = isError ? null : errorOfChoices(choices)
  return {
    usage: usageInEvent(event),
    model,
    serviceTier,
    isError: isError || failed !== null,
    ...(failed === null ? {} : { error: failed }),
    isUsageOnly: !hasChoices && isOfUsage(event),
    isLast: false,
  }
}

export const OPENAI_STREAM: StreamFormat = {
  isLastEvent: isDoneEvent,
  finishReason: /"finish_reason"\s*:\s*"/,
  readEvent,
  beginsAnswer: ({ choices }) =>
    objectsOf(choices).some((choice) => !isEmptyInterruption(choice) && !isAnnouncement(choice)),
  announcesAnswer: ({ choices }) => objectsOf(choices).some(isAnnouncement),
  combineUsage: combineReports,
  outputCount: (usage) => objectOf(usage)?.completion_tokens,
}

/**
 * Renders a complete answer as a stream with one event. The message of each choice becomes the
 * delta of this choice.
 */
export function streamOfAnswer(body: Buffer): string {
  const answer = parsedObject(body)
  const choices = Array.isArray(answer?.choices) ? answer.choices : []
  const chunk = { ...answer, object: 'chat.completion.chunk', choices: choices.map(deltaChoice) }
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`
}

function deltaChoice(choice: unknown): unknown {
  const { message, ...rest } = objectOrEmpty(choice)
  const { tool_calls: calls, ...delta } = objectOrEmpty(message)
  if (!Array.isArray(calls)) return { ...rest, delta }
  const toolCalls = calls.map((call, index) => ({ index, ...objectOf(call) }))
  return { ...rest, delta: { ...delta, tool_calls: toolCalls } }
}
