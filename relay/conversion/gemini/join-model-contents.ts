import type {
  CanonicalMessage,
  ContentPart,
  ThinkingPart,
} from '../../canonical/canonical-request.ts'

/**
 * Joins consecutive content objects of the model to one message. Client libraries keep each chunk
 * of a stream as one content object, so several content objects may contain pieces of one text or
 * thought. The pieces of a thought must be joined, because a signature of a provider other than
 * Gemini is valid only for the complete thought.
 */
export class TurnBuilder {
  readonly messages: CanonicalMessage[] = []
  private parts: ContentPart[] = []
  /** The index of the first part after the last tool call. */
  private segmentStart = 0

  addUserContent(parts: readonly ContentPart[]): void {
    if (parts.length > 0) this.messages.push({ role: 'user', parts })
  }

  /** Begins a content object of the model, to which `addPart` adds parts. */
  beginModelContent(): void {
    if (this.messages.at(-1)?.role === 'assistant') return
    this.parts = []
    this.segmentStart = 0
  }

  /** Adds a part. `isFirst` is true for the first part of its content object. */
  addPart(part: ContentPart, isFirst: boolean): void {
    if (this.parts.length === 0) this.messages.push({ role: 'assistant', parts: this.parts })
    const last = this.parts.at(-1)
    const joined = last === undefined ? null : join(last, part, isFirst)
    if (joined === null) this.parts.push(part)
    else this.parts[this.parts.length - 1] = joined
    if (part.kind === 'tool-call') this.segmentStart = this.parts.length
  }

  /**
   * Adds the thoughts that are stored in the signature of a tool call. The stored thoughts replace
   * those that the caller sent back before the call.
   */
  addThoughtsOfCall(thoughts: readonly ThinkingPart[]): void {
    if (thoughts.length === 0) return
    if (this.parts.length === 0) this.messages.push({ role: 'assistant', parts: this.parts })
    const segment = this.parts.splice(this.segmentStart)
    for (const thought of thoughts) this.parts.push(thought)
    for (const part of segment) if (part.kind !== 'thinking') this.parts.push(part)
  }
}

function join(last: ContentPart, part: ContentPart, isFirst: boolean): ContentPart | null {
  if (last.kind === 'thinking' && part.kind === 'thinking') {
    const isClosed = last.signature !== undefined || last.redacted !== undefined
    if (isClosed || part.redacted !== undefined) return null
    return { ...part, text: last.text + part.text }
  }
  if (!isFirst || last.kind !== 'text' || part.kind !== 'text') return null
  return last.signature === undefined ? { ...part, text: last.text + part.text } : null
}
