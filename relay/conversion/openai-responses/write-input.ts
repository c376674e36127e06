import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  CanonicalMessage,
  CanonicalRequest,
  ContentPart,
  ThinkingPart,
  ToolResultPart,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { limitedCallId } from '../shorten-ids-and-keys.ts'
import { encryptedForProvider } from './encrypted-content.ts'
import { writeInputPart, writeInputParts } from './write-content.ts'

/** The members `instructions` and `input` of a request. */
export type WrittenInput = {
  readonly instructions: string | null
  readonly input: readonly JsonObject[]
}

/**
 * Writes the instructions and the input items. Roles need not alternate in this format, so each
 * part keeps its position. If there are no messages, the instructions become a message, because
 * OpenAI rejects a request without items.
 */
export function writeInput(request: CanonicalRequest, losses: string[]): WrittenInput {
  const writer = new ItemWriter(losses)
  for (const [at, message] of request.messages.entries()) {
    writer.writeMessage(message, `messages[${at}]`)
  }
  const texts = request.system.flatMap((part, at) => {
    if ('cache' in part && part.cache !== undefined) addLoss(losses, `system[${at}].cache`)
    if (part.kind === 'text') return part.text === '' ? [] : [part.text]
    addLoss(losses, `system[${at}] (${part.kind})`)
    return []
  })
  const instructions = texts.length === 0 ? null : texts.join('\n\n')
  if (writer.items.length > 0 || instructions === null) {
    return { instructions, input: writer.items }
  }
  return { instructions: null, input: [developerMessage([textContent(instructions)])] }
}

const textContent = (text: string): JsonObject => ({ type: 'input_text', text })

/** Returns a message with an instruction within the conversation. */
export const developerMessage = (content: readonly JsonObject[]): JsonObject => ({
  type: 'message',
  role: 'developer',
  content,
})

class ItemWriter {
  readonly items: JsonObject[] = []
  private readonly losses: string[]
  /** The content of the current message, which has not been added to the items yet. */
  private content: JsonObject[] = []

  constructor(losses: string[]) {
    this.losses = losses
  }

  writeMessage(message: CanonicalMessage, path: string): void {
    for (const [at, part] of message.parts.entries()) {
      this.writePart(message, part, at, `${path}.parts[${at}]`)
    }
    this.endMessage(message.role)
  }

  private writePart(message: CanonicalMessage, part: ContentPart, at: number, path: string): void {
    const { role } = message
    if (part.kind === 'thinking') {
      this.endMessage(role)
      this.writeThinking(part, hasAnswerAfter(message, at), path)
    } else if (part.kind === 'tool-call') {
      this.endMessage(role)
      if (part.cache !== undefined) addLoss(this.losses, `${path}.cache`)
      if (part.signature !== undefined) addLoss(this.losses, `${path}.signature`)
      const { name, argumentsJson } = part
      const call = { call_id: limitedCallId(part.id), name, arguments: argumentsJson }
      this.items.push({ type: 'function_call', ...call })
    } else if (part.kind === 'tool-result') {
      this.endMessage(role)
      this.writeResult(part, path)
    } else {
      const content =
        role === 'assistant'
          ? this.assistantContent(part, path)
          : writeInputPart(part, path, this.losses)
      if (content !== null) this.content.push(content)
    }
  }

  private assistantContent(part: ContentPart, path: string): JsonObject | null {
    if ('cache' in part && part.cache !== undefined) addLoss(this.losses, `${path}.cache`)
    if (part.kind === 'text' || part.kind === 'refusal') {
      if (part.text === '') return null
      return part.kind === 'text'
        ? { type: 'output_text', text: part.text }
        : { type: 'refusal', refusal: part.text }
    }
    addLoss(this.losses, `${path} (${part.kind})`)
    return null
  }

  private endMessage(role: CanonicalMessage['role']): void {
    if (this.content.length === 0) return
    this.items.push({
      type: 'message',
      role: role === 'system' ? 'developer' : role,
      content: this.content,
    })
    this.content = []
  }

  /**
   * Writes thinking that a provider of this format encrypted. Such a provider rejects thinking of
   * other providers, and thinking that no answer follows. Both are reported as lost.
   */
  private writeThinking(part: ThinkingPart, isFollowed: boolean, path: string): void {
    const encrypted = encryptedForProvider(part)
    if (encrypted === null || !isFollowed) {
      addLoss(this.losses, `${path} (thinking)`)
      return
    }
    const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }]
    this.items.push({ type: 'reasoning', summary, encrypted_content: encrypted })
  }

  /**
   * Writes a tool result. A result that is empty or consists of one text becomes a string, because
   * all providers of this format accept a string.
   */
  private writeResult(part: ToolResultPart, path: string): void {
    if (part.isError) addLoss(this.losses, `${path}.isError`)
    if (part.cache !== undefined) addLoss(this.losses, `${path}.cache`)
    const content = writeInputParts(part.parts, `${path}.parts`, this.losses)
    const [first] = content
    const isText = content.length < 2 && (first === undefined || first.type === 'input_text')
    const output = isText ? (first?.text ?? '') : content
    this.items.push({ type: 'function_call_output', call_id: limitedCallId(part.callId), output })
  }
}

const hasAnswerAfter = ({ parts }: CanonicalMessage, at: number): boolean =>
  parts
    .slice(at + 1)
    .some(
      (part) =>
        part.kind === 'tool-call' ||
        ('text' in part && part.text !== '' && part.kind !== 'thinking'),
    )
