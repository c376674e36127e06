import { type JsonObject, objectsOf, textOf } from '#relay/canonical/json-values.ts'
import type { CanonicalEvent } from '../../canonical/canonical-answer.ts'
import { ownContent } from './encrypted-content.ts'
import { argumentsText, calledName, callId, PARTS_MAX } from './read-answer.ts'
import { SUMMARY_SEPARATOR } from './text-of-reasoning-item.ts'

type PartKind = 'text' | 'refusal' | 'thinking' | 'tool-call'
type Events = readonly CanonicalEvent[]

/**
 * Numbers the parts of an answer, and knows which ones are open. Only tool calls can be open at the
 * same time.
 */
export class OpenParts {
  private count = 0
  private isCalling = false
  private readonly open = new Set<number>()

  /**
   * Returns the number of a new part, and closes the parts that are open, unless they and the new
   * part are tool calls. Returns null if the answer already has `PARTS_MAX` parts.
   */
  begin(kind: PartKind): number | null {
    if (this.count >= PARTS_MAX) return null
    const isCall = kind === 'tool-call'
    if (!isCall || !this.isCalling) this.open.clear()
    this.isCalling = isCall
    const part = this.count
    this.count += 1
    this.open.add(part)
    return part
  }

  isOpen(part: number): boolean {
    return this.open.has(part)
  }
}

/**
 * The number of the part to which a text or the arguments of a call belong, and their length so
 * far.
 */
type TextState = { part: number; length: number }

/** Reads the events of one output item. */
export class ItemReader {
  readonly type: unknown
  readonly id: string
  isCall = false
  isRefused = false
  private readonly parts: OpenParts
  private readonly answerId: string
  private readonly index: number
  /** The texts of a message, by content index. */
  private readonly contents = new Map<number, TextState>()
  private readonly lengths = new Map<number, number>()
  /**
   * The member from which thinking is read. A provider may send both `summary` and `content`, but
   * only one of them is read.
   */
  private thinkingMember: 'summary' | 'content' | null = null
  private thinkingPart: number | null = null
  private call: TextState | null = null
  private isComplete = false

  constructor(item: JsonObject, parts: OpenParts, answerId: string, index: number) {
    this.type = item.type
    this.id = textOf(item.id) ?? ''
    this.parts = parts
    this.answerId = answerId
    this.index = index
  }

  /** Reads the item when it begins and has no content yet. */
  begin(item: JsonObject): Events {
    return this.isOfCall ? this.beginCall(item) : []
  }

  /** Reads an event with content of the item. */
  read(type: string, data: JsonObject): Events {
    const index = indexOf(data.content_index)
    switch (type) {
      case 'response.output_text.delta':
        return [...this.addText('text', index, data.delta), ...logprobsOf(data)]
      case 'response.refusal.delta':
        return this.addText('refusal', index, data.delta)
      case 'response.output_text.done':
        return this.completeText('text', index, data.text)
      case 'response.refusal.done':
        return this.completeText('refusal', index, data.refusal)
      case 'response.reasoning_summary_text.delta':
        return this.addThinking('summary', indexOf(data.summary_index), data.delta)
      case 'response.reasoning_text.delta':
        return this.addThinking('content', index, data.delta)
      case 'response.function_call_arguments.delta':
        return this.addArguments(textOf(data.delta) ?? '')
      case 'response.function_call_arguments.done':
        return this.completeArguments(argumentsText(data))
      default:
        return []
    }
  }

  /** Reads the complete item. Returns only the content that the deltas lacked. */
  readComplete(item: JsonObject): Events {
    if (this.isComplete) return []
    this.isComplete = true
    if (this.type === 'message') {
      return objectsOf(item.content).flatMap((content, at) =>
        content.type === 'refusal'
          ? this.completeText('refusal', at, content.refusal)
          : this.completeText('text', at, content.text),
      )
    }
    if (this.type === 'reasoning') return this.completeThinking(item)
    if (!this.isOfCall) return []
    const begun = this.beginCall(item)
    return [...begun, ...this.completeArguments(argumentsText(item))]
  }

  private get isOfCall(): boolean {
    return this.type === 'function_call' || this.type === 'custom_tool_call'
  }

  private addText(kind: 'text' | 'refusal', index: number, delta: unknown): Events {
    const text = textOf(delta) ?? ''
    if (text === '' || this.type !== 'message') return []
    const existing = this.contents.get(index)
    const isOpen = existing !== undefined && this.parts.isOpen(existing.part)
    const part = isOpen ? existing.part : this.parts.begin(kind)
    if (part === null) return []
    if (kind === 'refusal') this.isRefused = true
    this.contents.set(index, { part, length: (existing?.length ?? 0) + text.length })
    return [{ kind, choice: 0, part, text }]
  }

  private completeText(kind: 'text' | 'refusal', index: number, whole: unknown): Events {
    const length = this.contents.get(index)?.length ?? 0
    return this.addText(kind, index, (textOf(whole) ?? '').slice(length))
  }

  private addThinking(member: 'summary' | 'content', index: number, delta: unknown): Events {
    const text = textOf(delta) ?? ''
    if (text === '' || this.type !== 'reasoning') return []
    this.thinkingMember ??= member
    if (this.thinkingMember !== member) return []
    const existing = this.lengths.get(index)
    if (existing === undefined && this.lengths.size >= PARTS_MAX) return []
    const separator = existing === undefined && this.lengths.size > 0 ? SUMMARY_SEPARATOR : ''
    const { thinkingPart } = this
    const isOpen = thinkingPart !== null && this.parts.isOpen(thinkingPart)
    const part = isOpen ? thinkingPart : this.parts.begin('thinking')
    if (part === null) return []
    this.thinkingPart = part
    this.lengths.set(index, (existing ?? 0) + text.length)
    return [{ kind: 'thinking', choice: 0, part, text: separator + text }]
  }

  private completeThinking(item: JsonObject): Events {
    const hasSummary = objectsOf(item.summary).length > 0
    const member = this.thinkingMember ?? (hasSummary ? 'summary' : 'content')
    const texts = objectsOf(item[member]).flatMap(({ text }, at) =>
      this.addThinking(member, at, (textOf(text) ?? '').slice(this.lengths.get(at) ?? 0)),
    )
    const encrypted = textOf(item.encrypted_content) ?? ''
    return encrypted === '' ? texts : [...texts, ...this.addEncrypted(ownContent(encrypted))]
  }

  private addEncrypted(content: string): Events {
    if (this.thinkingPart !== null) {
      const part = this.thinkingPart
      if (!this.parts.isOpen(part)) return []
      return [{ kind: 'thinking-signature', choice: 0, part, signature: content }]
    }
    const part = this.parts.begin('thinking')
    return part === null ? [] : [{ kind: 'thinking-redacted', choice: 0, part, data: content }]
  }

  /** Begins the tool call, unless it has begun or its name is still unknown. */
  private beginCall(item: JsonObject): Events {
    const name = calledName(item)
    if (this.call !== null || name === null) return []
    const part = this.parts.begin('tool-call')
    if (part === null) return []
    this.isCall = true
    this.call = { part, length: 0 }
    const id = callId(item, this.answerId, this.index)
    return [{ kind: 'tool-call', choice: 0, part, id, name }]
  }

  private addArguments(json: string): Events {
    const { call } = this
    if (call === null || json === '' || !this.parts.isOpen(call.part)) return []
    call.length += json.length
    return [{ kind: 'tool-arguments', choice: 0, part: call.part, json }]
  }

  private completeArguments(json: string): Events {
    return this.addArguments(json.slice(this.call?.length ?? 0))
  }
}

/**
 * Returns `value`, the index of a content part or summary part in an event. A value that is not a
 * safe integer, for example a missing one, counts as 0.
 */
const indexOf = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0)

function logprobsOf({ logprobs }: JsonObject): Events {
  const tokens = objectsOf(logprobs)
  return tokens.length === 0 ? [] : [{ kind: 'logprobs', choice: 0, tokens }]
}
