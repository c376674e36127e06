import { type JsonObject, textOf } from '#relay/canonical/json-values.ts'
import { INTERRUPTIONS } from '#relay/dialects/openai-chat/error-of-failed-choice.ts'
import type { AnswerPart, StopReason } from '../../canonical/canonical-answer.ts'

/** OpenAI's finish reasons, and those that compatible providers send instead. */
const REASONS: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>([
  ['stop', 'end'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['content_filter', 'refusal'],
  ['sensitive', 'refusal'],
  ...[...INTERRUPTIONS].map((reason) => [reason, 'interrupted'] as const),
])

type Stop = { readonly stop: StopReason; readonly stopSequence: string | null }

/**
 * Reads why a choice ended. A missing or unknown finish reason counts as `stop`. Some providers
 * report `stop` even for an answer with tool calls, and OpenAI reports it for a refusal. vLLM
 * reports the stop sequence as `stop_reason`.
 */
export function readStop(choice: JsonObject, kinds: ReadonlySet<AnswerPart['kind']>): Stop {
  const stop = REASONS.get(choice.finish_reason) ?? 'end'
  if (stop === 'end' && kinds.has('tool-call')) return { stop: 'tool-calls', stopSequence: null }
  if (stop === 'end' && kinds.has('refusal')) return { stop: 'refusal', stopSequence: null }
  const stopSequence = stop === 'end' ? textOf(choice.stop_reason) || null : null
  return { stop: stopSequence === null ? stop : 'stop-sequence', stopSequence }
}

const WRITTEN: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'stop-sequence': 'stop',
  refusal: 'content_filter',
  pause: 'stop',
  // OpenAI has no such reason. Clients treat an answer with this one as incomplete.
  interrupted: 'length',
}

/**
 * The properties of a choice's content on which the finish reason depends. OpenAI reports `stop` if
 * the message has a refusal.
 */
type ChoiceContent = { readonly isRefused: boolean; readonly usesFunctionCall: boolean }

/** Returns the `finish_reason` to write for a choice. */
export function finishReason(stop: StopReason, content: ChoiceContent): string {
  if (stop === 'tool-calls' && content.usesFunctionCall) return 'function_call'
  return stop === 'refusal' && content.isRefused ? 'stop' : WRITTEN[stop]
}
