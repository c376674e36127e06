import type { StopReason } from '../canonical-answer.ts'

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
 * Reads `finishReason`. Gemini ends an answer with calls with `STOP`. Faults of the model, such as
 * `MALFORMED_FUNCTION_CALL`, have no counterpart in other formats and count as the end.
 */
export function readFinishReason(reason: string, hasCalls: boolean): StopReason {
  if (REFUSALS.has(reason)) return 'refusal'
  // An answer that Gemini offers to continue is incomplete in the same way.
  if (reason === 'MAX_TOKENS' || reason === 'CONTINUATION') return 'length'
  return hasCalls ? 'tool-calls' : 'end'
}

const REASONS: Readonly<Record<StopReason, string>> = {
  end: 'STOP',
  'tool-calls': 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'SAFETY',
  pause: 'OTHER',
}

export const writeFinishReason = (stop: StopReason): string => REASONS[stop]
