import type { AnswerError, StopReason } from '../../canonical/canonical-answer.ts'

const REFUSALS = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/**
 * The finish reasons that mean a failure of the model. The answer is not usable, but the same
 * request may succeed when it is sent again.
 */
const FAULTS = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
])

/**
 * Returns the error of a choice that ended with a failure of the model. Returns null for any other
 * finish reason.
 */
export function readModelFailure(reason: string, message: string): AnswerError | null {
  if (!FAULTS.has(reason)) return null
  const text = message === '' ? `The answer of the model ended with ${reason}.` : message
  return { type: 'INTERNAL', message: text, isOfModel: true }
}

/**
 * Reads `finishReason`. Gemini sends `STOP` even for an answer with tool calls, so `hasCalls`
 * decides in this case. `OTHER` means that Gemini ended the answer for an unknown reason.
 */
export function readFinishReason(reason: string, hasCalls: boolean): StopReason {
  if (REFUSALS.has(reason)) return 'refusal'
  // `CONTINUATION` means that the answer is incomplete and can be continued.
  if (reason === 'MAX_TOKENS' || reason === 'CONTINUATION') return 'length'
  if (hasCalls) return 'tool-calls'
  return reason === 'OTHER' ? 'interrupted' : 'end'
}

const REASONS: Readonly<Record<StopReason, string>> = {
  end: 'STOP',
  'tool-calls': 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'SAFETY',
  pause: 'OTHER',
  interrupted: 'OTHER',
}

export const writeFinishReason = (stop: StopReason): string => REASONS[stop]
