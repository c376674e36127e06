import { type JsonObject, objectOf } from '#relay/canonical/json-values.ts'
import type { StopReason } from '../../canonical/canonical-answer.ts'

/**
 * States whether an answer contains tool calls and whether it contains a refusal. The stop reason
 * of the answer depends on both.
 */
type StopHints = { readonly hasCalls: boolean; readonly isRefused: boolean }

/** Reads why a response ended. The format states a reason only for an incomplete response. */
export function readStop(response: JsonObject, { hasCalls, isRefused }: StopHints): StopReason {
  if (response.status === 'incomplete') {
    const reason = objectOf(response.incomplete_details)?.reason
    if (reason === 'content_filter') return 'refusal'
    return reason === 'max_messages' || reason === 'steered' ? 'end' : 'length'
  }
  if (hasCalls) return 'tool-calls'
  return isRefused ? 'refusal' : 'end'
}

/** The members of a response that state whether and why it is incomplete. */
export type WrittenStop = {
  readonly status: 'completed' | 'incomplete'
  readonly incomplete_details: JsonObject | null
}

/**
 * Returns the status with which an answer ended. An answer that contains the text of its refusal is
 * complete.
 */
export function writeStop(stop: StopReason, isRefused: boolean): WrittenStop {
  // OpenAI has only one reason for an answer that ended too early.
  if (stop === 'length' || stop === 'interrupted') return incomplete('max_output_tokens')
  if (stop === 'refusal' && !isRefused) return incomplete('content_filter')
  return { status: 'completed', incomplete_details: null }
}

const incomplete = (reason: string): WrittenStop => ({
  status: 'incomplete',
  incomplete_details: { reason },
})
