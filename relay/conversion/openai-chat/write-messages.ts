import type { JsonObject } from '#relay/canonical/json-values.ts'
import { GEMINI_SIGNATURE, OPENAI_SIGNATURE } from '#relay/canonical/thinking-signature-prefixes.ts'
import type {
  CanonicalMessage,
  CanonicalRequest,
  ContentPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import type { ChatExtensions } from './chat-extensions-of-provider.ts'
import { ANTHROPIC_FORMAT, writeDetail } from './thinking-in-assistant-messages.ts'
import { cacheMember, type PartWithPath, withPaths, writeContent } from './write-content.ts'

/** Writes the system prompt and the messages, in the order that OpenAI requires. */
export function writeMessages(
  request: CanonicalRequest,
  vendor: ChatExtensions,
  losses: string[],
): readonly JsonObject[] {
  const writer = new MessageWriter(vendor, losses)
  if (request.system.length > 0) {
    const parts = request.system.map((part, at) => ({ part, path: `system[${at}]` }))
    writer.addContent('system', parts)
  }
  for (const [at, message] of request.messages.entries()) {
    writer.add(message, `messages[${at}]`)
  }
  writer.finishTurn()
  return writer.written
}

type Turn = { readonly role: 'user' | 'system'; readonly parts: readonly PartWithPath[] }

class MessageWriter {
  readonly written: JsonObject[] = []
  private readonly vendor: ChatExtensions
  private readonly losses: string[]
  private readonly ids = new ShortIds()
  /**
   * The user and system messages since the assistant's last message. They are held back, because
   * OpenAI requires the results of all tool calls directly after the calls.
   */
  private turns: Turn[] = []

  constructor(vendor: ChatExtensions, losses: string[]) {
    this.vendor = vendor
    this.losses = losses
  }

  add({ role, parts }: CanonicalMessage, path: string): void {
    if (role === 'assistant') {
      this.finishTurn()
      this.written.push(this.assistantMessage(withPaths(parts, path)))
      return
    }
    const media: PartWithPath[] = []
    const others = withPaths(parts, path).filter(({ part, path: partPath }) => {
      if (part.kind !== 'tool-result') return true
      for (const moved of this.addResult(part, partPath)) media.push(moved)
      return false
    })
    const rest = [...media, ...others]
    if (rest.length > 0 || parts.length === 0) this.turns.push({ role, parts: rest })
  }

  /** Writes the messages that were held back until all tool results were written. */
  finishTurn(): void {
    for (const { role, parts } of this.turns) this.addContent(role, parts)
    this.turns = []
  }

  addContent(role: 'user' | 'system', parts: readonly PartWithPath[]): void {
    const content = writeContent(parts, this.vendor, this.losses)
    // If all parts of a message were lost, the message is left out, because empty content is
    // rejected.
    if (parts.length > 0 && content.length === 0) return
    this.written.push({ role, content })
  }

  /**
   * Writes a tool result. Returns the parts that a result can't contain. A user's message after the
   * results contains these parts.
   */
  private addResult(result: ToolResultPart, path: string): readonly PartWithPath[] {
    const { callId, isError, cache } = result
    if (isError) addLoss(this.losses, `${path}.isError`)
    const parts = this.vendor.hasCacheMarks ? withMark(result.parts, cache) : result.parts
    if (cache !== undefined && parts === result.parts) addLoss(this.losses, `${path}.cache`)
    const all = withPaths(parts, path)
    const isMoved = ({ part }: PartWithPath): boolean =>
      !this.vendor.hasToolResultMedia && part.kind !== 'text'
    const moved = all.filter(isMoved)
    const kept = all.filter((each) => !isMoved(each))
    const id = this.ids.shorten(callId)
    if (moved.length > 0 && kept.length === 0) kept.push(textAt(path, SEE_BELOW))
    const content = writeContent(kept, this.vendor, this.losses)
    this.written.push({ role: 'tool', tool_call_id: id, content })
    return moved.length === 0 ? [] : [textAt(path, `The result of the tool call ${id}:`), ...moved]
  }

  private assistantMessage(parts: readonly PartWithPath[]): JsonObject {
    const thinking: PartWithPath[] = []
    const calls: JsonObject[] = []
    const content: PartWithPath[] = []
    let refusal = ''
    for (const each of parts) {
      const { part, path } = each
      if (part.kind === 'thinking') thinking.push(each)
      else if (part.kind === 'tool-call') calls.push(this.toolCall(part, path))
      else if (part.kind === 'refusal') refusal += part.text
      else if (part.kind === 'text') content.push(each)
      else addLoss(this.losses, `${path} (${part.kind})`)
    }
    const text = writeContent(content, this.vendor, this.losses)
    const isEmpty = text.length === 0 && (calls.length > 0 || refusal !== '')
    return {
      role: 'assistant',
      content: isEmpty ? null : text,
      ...this.thinkingMember(thinking),
      ...(refusal === '' ? {} : { refusal }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
  }

  private toolCall(part: ToolCallPart, path: string): JsonObject {
    const { name, argumentsJson, signature, cache } = part
    if (cache !== undefined) addLoss(this.losses, `${path}.cache`)
    const call = {
      id: this.ids.shorten(part.id),
      type: 'function',
      function: { name, arguments: argumentsJson },
    }
    if (signature === undefined) return call
    if (!this.vendor.hasCallSignatures) {
      addLoss(this.losses, `${path}.signature`)
      return call
    }
    return { ...call, extra_content: { google: { thought_signature: signature } } }
  }

  /**
   * Returns the thinking. If OpenRouter would mistake its signature or its encrypted data for
   * Anthropic's, only the text is returned, or no part if there is no text. What is left out is
   * reported as lost.
   */
  private usableThinking({ part, path }: PartWithPath): readonly ThinkingPart[] {
    const thinking = part as ThinkingPart
    const { text, signature, redacted } = thinking
    if (!isUnknownToOpenRouter(redacted ?? signature ?? '')) return [thinking]
    const isTextLeft = redacted === undefined && text !== ''
    addLoss(this.losses, isTextLeft ? `${path}.signature` : `${path} (thinking)`)
    return isTextLeft ? [{ kind: 'thinking', text }] : []
  }

  private thinkingMember(parts: readonly PartWithPath[]): JsonObject {
    if (parts.length === 0) return {}
    const thinking = parts.map(({ part }) => part as ThinkingPart)
    if (this.vendor.thinkingHistory === 'reasoning_details') {
      const usable = parts.flatMap((each) => this.usableThinking(each))
      const details = usable.map((part, at) => writeDetail(part, at, ANTHROPIC_FORMAT))
      return details.length === 0 ? {} : { reasoning_details: details }
    }
    for (const { part, path } of parts) {
      const { signature, redacted } = part as ThinkingPart
      if (redacted !== undefined || this.vendor.thinkingHistory === null) {
        addLoss(this.losses, `${path} (thinking)`)
      } else if (signature !== undefined) addLoss(this.losses, `${path}.signature`)
    }
    const text = thinking.map((part) => part.text).join('')
    if (this.vendor.thinkingHistory === null || text === '') return {}
    return { reasoning_content: text }
  }
}

/** Reports whether OpenRouter can't pass a signature on to the provider that made it. */
const isUnknownToOpenRouter = (signature: string): boolean =>
  signature.startsWith(GEMINI_SIGNATURE) || signature.startsWith(OPENAI_SIGNATURE)

const SEE_BELOW = 'The result is in the next message of the user.'

const textAt = (path: string, text: string): PartWithPath => ({
  part: { kind: 'text', text },
  path,
})

/**
 * Moves the cache mark of a result to the result's last part, because only parts have marks in this
 * format.
 */
function withMark(
  parts: readonly ContentPart[],
  cache: '5m' | '1h' | undefined,
): readonly ContentPart[] {
  const last = parts.at(-1)
  if (cache === undefined || last === undefined) return parts
  if (last.kind === 'thinking' || last.kind === 'refusal') return parts
  return parts.with(-1, { ...last, cache })
}

/** The maximum length of a tool call's id that OpenAI accepts. */
const ID_LENGTH_MAX = 40

/** Replaces ids that are too long. The same request history always gets the same replacements. */
class ShortIds {
  private readonly replacements = new Map<string, string>()

  shorten(id: string): string {
    if (id.length <= ID_LENGTH_MAX) return id
    const existing = this.replacements.get(id)
    if (existing !== undefined) return existing
    const replacement = `call_${this.replacements.size}_${id.slice(-24).replace(/\W/g, '_')}`
    this.replacements.set(id, replacement)
    return replacement
  }
}

/**
 * Writes the cache mark of a tool. If the vendor accepts no marks, the mark is reported as lost.
 */
export function toolCacheMember(
  cache: '5m' | '1h' | undefined,
  path: string,
  vendor: ChatExtensions,
  losses: string[],
): JsonObject {
  if (cache === undefined) return {}
  if (vendor.hasCacheMarks) return cacheMember(cache)
  addLoss(losses, `${path}.cache`)
  return {}
}
