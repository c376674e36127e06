import { INTERRUPTIONS } from '#relay/dialects/openai-chat/error-of-failed-choice.ts'
import type { AnswerPart, StopReason } from '../../canonical/canonical-answer.ts'

const READ = new Map<string, StopReason>([
  ['end_turn', 'end'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['tool_use', 'tool-calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  // Zhipu and other vendors also offer this format.
  ...[...INTERRUPTIONS].map((reason) => [reason, 'interrupted'] as const),
])

const WRITTEN: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  length: 'max_tokens',
  'stop-sequence': 'stop_sequence',
  'tool-calls': 'tool_use',
  pause: 'pause_turn',
  refusal: 'refusal',
  // Anthropic has no such reason. Clients treat an answer with this one as incomplete.
  interrupted: 'max_tokens',
}

/**
 * Reads `stop_reason`. If the reason is unknown or missing, returns `tool-calls` for an answer with
 * tool calls, and `end` otherwise.
 */
export const readStopReason = (reason: unknown, hasToolCalls: boolean): StopReason =>
  (typeof reason === 'string' ? READ.get(reason) : undefined) ??
  (hasToolCalls ? 'tool-calls' : 'end')

/**
 * Returns the `stop_reason` to write. Clients of this format run tools only after `tool_use`. Some
 * providers report a normal end even after tool calls or a refusal. In this case, the kinds of the
 * answer's parts decide.
 */
export function writeStopReason(stop: StopReason, kinds: ReadonlySet<AnswerPart['kind']>): string {
  if (stop !== 'end') return WRITTEN[stop]
  if (kinds.has('tool-call')) return WRITTEN['tool-calls']
  return WRITTEN[kinds.has('refusal') ? 'refusal' : 'end']
}

/**
 * Returns the `stop_details` of a refusal. `explanation` is the text of the refusal, which may be
 * empty.
 */
export const writeRefusalDetails = (explanation: string) => ({
  type: 'refusal',
  category: null,
  explanation: explanation === '' ? null : explanation,
})
