import type { AnswerPart, StopReason } from '../canonical-answer.ts'

const READ = new Map<string, StopReason>([
  ['end_turn', 'end'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['stop_sequence', 'stop-sequence'],
  ['tool_use', 'tool-calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
])

const WRITTEN: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  length: 'max_tokens',
  'stop-sequence': 'stop_sequence',
  'tool-calls': 'tool_use',
  pause: 'pause_turn',
  refusal: 'refusal',
}

/** Reads `stop_reason`. An unknown or missing reason is a normal end. */
export const readStopReason = (reason: unknown, hasToolCalls: boolean): StopReason =>
  (typeof reason === 'string' ? READ.get(reason) : undefined) ??
  (hasToolCalls ? 'tool-calls' : 'end')

/**
 * Writes `stop_reason`. Some providers report a normal end after tool calls or a refusal. Clients
 * of this format run tools only after `tool_use`, so the parts of the answer decide then.
 */
export function writeStopReason(stop: StopReason, kinds: ReadonlySet<AnswerPart['kind']>): string {
  if (stop !== 'end') return WRITTEN[stop]
  if (kinds.has('tool-call')) return WRITTEN['tool-calls']
  return WRITTEN[kinds.has('refusal') ? 'refusal' : 'end']
}

/** The details that Anthropic adds to a refusal. `explanation` is the text of the refusal. */
export const writeRefusalDetails = (explanation: string) => ({
  type: 'refusal',
  category: null,
  explanation: explanation === '' ? null : explanation,
})
