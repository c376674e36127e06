import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { AnswerPart, CanonicalAnswer } from '../../canonical/canonical-answer.ts'
import type { RefusalPart, TextPart } from '../../canonical/canonical-request.ts'
import { writeStop } from './stop-reason.ts'
import { writeUsage } from './usage.ts'
import {
  type AnswerOptions,
  callItem,
  callSignatureItem,
  contentOf,
  ItemIds,
  type ItemStatus,
  messageItem,
  reasoningItem,
  textContent,
  writeResponse,
} from './write-response-and-items.ts'

export type { AnswerOptions } from './write-response-and-items.ts'

/**
 * Writes a complete response. The format has only one choice, so only the first choice of the
 * answer is written.
 */
export function writeAnswer(answer: CanonicalAnswer, options: AnswerOptions): JsonObject {
  const [choice] = answer.choices
  const parts = choice?.parts ?? []
  const isRefused = parts.some(({ kind }) => kind === 'refusal')
  const { status, incomplete_details } = writeStop(choice?.stop ?? 'end', isRefused)
  const output = writeItems(answer.id, parts, status, choice?.logprobs ?? [], options)
  const usage = answer.usage === null ? null : writeUsage(answer.usage)
  const state = { status, incomplete_details, error: null, output, usage }
  return writeResponse(answer, state, options)
}

type Message = { readonly kind: 'message'; readonly parts: (TextPart | RefusalPart)[] }
type Group = Message | Exclude<AnswerPart, TextPart | RefusalPart>

/**
 * Joins consecutive texts and refusals to one group, because they are the contents of one message.
 */
function groupsOf(parts: readonly AnswerPart[]): readonly Group[] {
  const groups: Group[] = []
  for (const part of parts) {
    const last = groups.at(-1)
    if (part.kind !== 'text' && part.kind !== 'refusal') groups.push(part)
    else if (last?.kind === 'message') last.parts.push(part)
    else groups.push({ kind: 'message', parts: [part] })
  }
  return groups
}

/** Writes the output items. If the response is incomplete, only the last item is incomplete. */
function writeItems(
  answerId: string,
  parts: readonly AnswerPart[],
  status: ItemStatus,
  logprobs: readonly JsonObject[],
  options: AnswerOptions,
): readonly JsonObject[] {
  const ids = new ItemIds(answerId)
  const items: JsonObject[] = []
  const groups = groupsOf(parts)
  let tokens = logprobs
  for (const [at, group] of groups.entries()) {
    const itemStatus = at === groups.length - 1 ? status : 'completed'
    if (group.kind === 'message') {
      const id = ids.idOf('msg', items.length)
      items.push(messageItem(id, contentsOf(group, tokens), itemStatus))
      tokens = []
    } else if (group.kind === 'thinking') {
      items.push(reasoningItem(ids.idOf('rs', items.length), group))
    } else {
      const callId = group.id || ids.idOf('call', items.length)
      const { signature } = group
      if (signature !== undefined) {
        items.push(callSignatureItem(ids.idOf('rs', items.length), callId, signature))
      }
      const prefix = options.custom.has(group.name) ? 'ctc' : 'fc'
      const call = { ...group, id: callId, argumentsJson: group.argumentsJson || '{}' }
      items.push(callItem(ids.idOf(prefix, items.length), call, itemStatus, options))
    }
  }
  return items
}

/**
 * Returns the contents of a message. The log probabilities of all texts of an answer are in one
 * list, which is added to the first text.
 */
function contentsOf({ parts }: Message, tokens: readonly JsonObject[]): readonly JsonObject[] {
  const first = parts.findIndex(({ kind }) => kind === 'text')
  return parts.map((part, at) => (at === first ? textContent(part.text, tokens) : contentOf(part)))
}
