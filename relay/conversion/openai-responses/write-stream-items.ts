import type { JsonObject } from '#relay/canonical/json-values.ts'
import type { ThinkingPart, ToolCallPart } from '../../canonical/canonical-request.ts'
import { inputOfArguments } from '../custom-tools-as-functions.ts'
import { CustomToolInputDecoder } from '../decode-custom-tool-input.ts'
import type { CallerTools } from './convert-caller-tools-to-functions.ts'
import {
  callItem,
  callSignatureItem,
  type ItemStatus,
  messageItem,
  reasoningItem,
  refusalContent,
  summaryContent,
  textContent,
} from './write-response-and-items.ts'

/** Writes one event of the stream with the next sequence number. */
type Emit = (type: string, members: JsonObject) => string

export type ItemPlace = { readonly index: number; readonly id: string }

/** Writes the events of one output item, from its beginning to its end. */
export type ItemWriter = {
  readonly begin: () => string
  /** Writes the events that end the item. Afterwards, `item` returns the complete item. */
  readonly end: (status: ItemStatus) => string
  readonly item: () => JsonObject
}

abstract class BaseItem implements ItemWriter {
  protected readonly place: ItemPlace
  private readonly emit: Emit
  private written: JsonObject = {}

  constructor(place: ItemPlace, emit: Emit) {
    this.place = place
    this.emit = emit
  }

  /** Returns the item with its content so far. */
  protected abstract itemOf(status: ItemStatus): JsonObject
  /** Writes the events that must precede the end of the item. */
  protected abstract endContents(): string

  begin(): string {
    return this.itemEvent('added', 'in_progress')
  }

  end(status: ItemStatus): string {
    return this.endContents() + this.itemEvent('done', status)
  }

  item(): JsonObject {
    return this.written
  }

  protected event(type: string, members: JsonObject): string {
    const { id, index } = this.place
    return this.emit(type, { item_id: id, output_index: index, ...members })
  }

  private itemEvent(name: 'added' | 'done', status: ItemStatus): string {
    this.written = this.itemOf(status)
    const members = { output_index: this.place.index, item: this.written }
    return this.emit(`response.output_item.${name}`, members)
  }
}

type OpenContent = { readonly part: number; readonly kind: 'text' | 'refusal'; text: string }

/** A message, whose contents are texts and refusals. */
export class MessageItem extends BaseItem {
  private readonly contents: JsonObject[] = []
  private open: OpenContent | null = null
  private logprobs: JsonObject[] = []

  /** Adds log probabilities of the current text. They are written when the text ends. */
  addLogprobs(tokens: readonly JsonObject[]): void {
    this.logprobs.push(...tokens)
  }

  addText(part: number, kind: 'text' | 'refusal', text: string): string {
    if (this.open?.part === part) return this.addDelta(this.open, text)
    const before = this.endContents()
    const content: OpenContent = { part, kind, text: '' }
    this.open = content
    const added = this.contentEvent('response.content_part.added', { part: partOf(content, []) })
    return before + added + this.addDelta(content, text)
  }

  private addDelta(content: OpenContent, text: string): string {
    content.text += text
    return content.kind === 'text'
      ? this.contentEvent('response.output_text.delta', { delta: text, logprobs: [] })
      : this.contentEvent('response.refusal.delta', { delta: text })
  }

  protected endContents(): string {
    const content = this.open
    if (content === null) return ''
    const { kind, text } = content
    const logprobs = kind === 'text' ? this.logprobs : []
    const part = partOf(content, logprobs)
    const done =
      kind === 'text'
        ? this.contentEvent('response.output_text.done', { text, logprobs })
        : this.contentEvent('response.refusal.done', { refusal: text })
    const end = done + this.contentEvent('response.content_part.done', { part })
    this.contents.push(part)
    this.logprobs = this.logprobs === logprobs ? [] : this.logprobs
    this.open = null
    return end
  }

  protected itemOf(status: ItemStatus): JsonObject {
    return messageItem(this.place.id, [...this.contents], status)
  }

  private contentEvent(type: string, members: JsonObject): string {
    return this.event(type, { content_index: this.contents.length, ...members })
  }
}

const partOf = ({ kind, text }: OpenContent, logprobs: readonly JsonObject[]): JsonObject =>
  kind === 'text' ? textContent(text, logprobs) : refusalContent(text)

/** A reasoning item. Its summary has at most one part, which contains the whole text. */
export class ReasoningItem extends BaseItem {
  private text = ''
  private kept: Pick<ThinkingPart, 'signature' | 'redacted'> = {}
  private callSignature: { readonly callId: string; readonly signature: string } | null = null

  addText(text: string): string {
    const isFirst = this.text === ''
    this.text += text
    if (text === '') return ''
    const added = isFirst
      ? this.summaryEvent('response.reasoning_summary_part.added', { part: summaryContent('') })
      : ''
    return added + this.summaryEvent('response.reasoning_summary_text.delta', { delta: text })
  }

  addSignature(signature: string): void {
    this.kept = { signature: (this.kept.signature ?? '') + signature }
  }

  setRedacted(redacted: string): void {
    this.kept = { redacted }
  }

  /** Turns this item into an item that only stores the signature of the tool call after it. */
  setCallSignature(callId: string, signature: string): void {
    this.callSignature = { callId, signature }
  }

  protected endContents(): string {
    const { text } = this
    if (text === '') return ''
    const done = this.summaryEvent('response.reasoning_summary_text.done', { text })
    const part = summaryContent(text)
    return done + this.summaryEvent('response.reasoning_summary_part.done', { part })
  }

  protected itemOf(): JsonObject {
    if (this.callSignature !== null) {
      const { callId, signature } = this.callSignature
      return callSignatureItem(this.place.id, callId, signature)
    }
    return reasoningItem(this.place.id, { kind: 'thinking', text: this.text, ...this.kept })
  }

  private summaryEvent(type: string, members: JsonObject): string {
    return this.event(type, { summary_index: 0, ...members })
  }
}

/** A tool call. The input of a custom tool is read from the JSON of the arguments. */
export class CallItem extends BaseItem {
  private readonly call: Pick<ToolCallPart, 'id' | 'name'>
  private readonly tools: CallerTools
  private readonly decoder = new CustomToolInputDecoder()
  private json = ''

  constructor(
    place: ItemPlace,
    emit: Emit,
    call: Pick<ToolCallPart, 'id' | 'name'>,
    tools: CallerTools,
  ) {
    super(place, emit)
    this.call = call
    this.tools = tools
  }

  addArguments(json: string): string {
    this.json += json
    if (this.isCustom) return this.inputDelta(this.decoder.add(json))
    return json === '' ? '' : this.event('response.function_call_arguments.delta', { delta: json })
  }

  private get isCustom(): boolean {
    return this.tools.custom.has(this.call.name)
  }

  protected endContents(): string {
    if (this.isCustom) {
      const rest = this.inputDelta(this.decoder.end())
      const input = inputOfArguments(this.json)
      return rest + this.event('response.custom_tool_call_input.done', { input })
    }
    // Empty arguments become `{}`, because clients parse them as JSON.
    const filled = this.json === '' ? this.addArguments('{}') : ''
    const members = { arguments: this.json }
    return filled + this.event('response.function_call_arguments.done', members)
  }

  private inputDelta(delta: string): string {
    return delta === '' ? '' : this.event('response.custom_tool_call_input.delta', { delta })
  }

  protected itemOf(status: ItemStatus): JsonObject {
    const { id, name } = this.call
    const call: ToolCallPart = { kind: 'tool-call', id, name, argumentsJson: this.json }
    return callItem(this.place.id, call, status, this.tools)
  }
}
