import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { AnswerPart, CanonicalAnswer } from '../../canonical/canonical-answer.ts'
import { wrapSignature } from '../wrap-signature-of-other-provider.ts'
import { writeRefusalDetails, writeStopReason } from './stop-reasons.ts'
import { writeUsage } from './usage.ts'
import { type Block, toolInputOf } from './write-tool-input.ts'

/**
 * Writes a complete answer of `POST /v1/messages`. The format has only one choice, so only the
 * first choice of the answer is written. `fallbackId` is used if the provider sent no id.
 */
export function writeAnswer(answer: CanonicalAnswer, fallbackId: string): JsonObject {
  const [choice] = answer.choices
  const parts = choice?.parts ?? []
  const id = answer.id === '' ? fallbackId : answer.id
  const stop = writeStopReason(choice?.stop ?? 'end', new Set(parts.map(({ kind }) => kind)))
  const refusal = parts.flatMap((part) => (part.kind === 'refusal' ? [part.text] : [])).join('')
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: parts.flatMap((part, index) => writePart(part, index, id)),
    stop_reason: stop,
    stop_sequence: choice?.stopSequence ?? null,
    ...(stop === 'refusal' && { stop_details: writeRefusalDetails(refusal) }),
    usage: writeUsage(answer.usage),
  }
}

/**
 * Creates an id for a tool call without an id. The same answer and part always give the same id.
 */
export const madeUpCallId = (answerId: string, part: number): string =>
  `toolu_${answerId.replaceAll(/[^\w-]/g, '_')}_${part}`

/**
 * Returns a block with the signature of a tool call. The block is written before the call, because
 * a call in this format has no member for a signature. Callers send the block back together with
 * the call.
 */
export const signatureBlock = (callId: string, callSignature: string): Block => ({
  type: 'redacted_thinking',
  data: wrapSignature({ callId, callSignature }),
})

/**
 * Writes one part of an answer. A refusal gives no block, because `writeAnswer` writes its text to
 * `stop_details`.
 */
function writePart(part: AnswerPart, index: number, answerId: string): Block[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'thinking':
      if (part.redacted !== undefined) return [{ type: 'redacted_thinking', data: part.redacted }]
      return [{ type: 'thinking', thinking: part.text, signature: part.signature ?? '' }]
    case 'tool-call': {
      const { input } = toolInputOf(part.argumentsJson)
      const id = part.id === '' ? madeUpCallId(answerId, index) : part.id
      const call = { type: 'tool_use', id, name: part.name, input }
      return part.signature === undefined ? [call] : [signatureBlock(id, part.signature), call]
    }
    case 'refusal':
      return []
  }
}
