import type { JsonObject } from '#relay/canonical/json-values.ts'
import type {
  CanonicalEvent,
  CanonicalUsage,
  StopReason,
  StreamWriter,
} from '../../canonical/canonical-answer.ts'
import { HeldCharacters } from '../memory-of-stream-writers.ts'
import { namedEvent } from '../write-server-sent-events.ts'
import { writeStop } from './stop-reason.ts'
import { writeUsage } from './usage.ts'
import {
  type AnswerOptions,
  ItemIds,
  type ItemStatus,
  type ResponseState,
  writeResponse,
} from './write-response-and-items.ts'
import {
  CallItem,
  type ItemPlace,
  type ItemWriter,
  MessageItem,
  ReasoningItem,
} from './write-stream-items.ts'

/**
 * Writes the events of a streamed response. The format has no `[DONE]`. An error is written twice:
 * as `error` for OpenAI's SDKs, and as `response.failed` for Codex. The error's message is written
 * unchanged, so the caller of `write` must redact it first.
 */
export const createStreamWriter = (options: StreamOptions): StreamWriter => new EventWriter(options)

/** `id` replaces the id of the provider's answer. */
type StreamOptions = AnswerOptions & { readonly id?: string }

type PartEvent = Extract<CanonicalEvent, { readonly part: number }>
type Items = { readonly item: ItemWriter; isOpen: boolean }

/**
 * The maximum number of characters of an answer. The last events contain the complete answer, so it
 * is kept until then. A picture of Gemini may have 32 MiB of base64 in one event.
 */
const ANSWER_CHARACTERS_MAX = 40 * 1024 * 1024

class EventWriter implements StreamWriter {
  hasGivenUp = false
  private readonly held = new HeldCharacters(ANSWER_CHARACTERS_MAX)
  private readonly options: StreamOptions
  private sequenceNumber = 0
  private identity: { readonly id: string; readonly model: string } | null = null
  private ids = new ItemIds('')
  private readonly items: Items[] = []
  /** The items, by part number. Consecutive texts belong to one item. */
  private readonly itemsByPart = new Map<number, Items>()
  private logprobs: readonly JsonObject[] = []
  private usage: CanonicalUsage | null = null
  private stop: StopReason = 'end'
  private isRefused = false
  private isEnded = false

  constructor(options: StreamOptions) {
    this.options = options
  }

  write(event: CanonicalEvent): string {
    if (this.isEnded || ('choice' in event && event.choice !== 0)) return ''
    switch (event.kind) {
      case 'start':
        return this.start(event.id, event.model)
      case 'part-begun':
        return this.start('', '')
      case 'usage':
        this.usage = event.usage
        return ''
      case 'stop':
        this.stop = event.stop
        return ''
      case 'logprobs':
        this.held.add(JSON.stringify(event.tokens).length)
        if (this.held.isTooMuch) return this.giveUp()
        this.addLogprobs(event.tokens)
        return ''
      case 'error':
        return this.start('', '') + this.fail(event.type, event.message)
      case 'end':
        return this.start('', '') + this.end()
      default:
        this.held.addEvent(event)
        return this.held.isTooMuch ? this.giveUp() : this.start('', '') + this.writePart(event)
    }
  }

  private giveUp(): string {
    this.isEnded = true
    this.hasGivenUp = true
    return ''
  }

  /** Writes the events that must precede all others, unless they have been written. */
  private start(providerId: string, model: string): string {
    if (this.identity !== null) return ''
    const { id = providerId } = this.options
    this.identity = { id, model }
    this.ids = new ItemIds(id)
    const state = this.stateOf('in_progress')
    return this.responseEvent('created', state) + this.responseEvent('in_progress', state)
  }

  private writePart(event: PartEvent): string {
    const begun = this.beginPart(event)
    const item = this.itemsByPart.get(event.part)
    return item?.isOpen === true ? begun + this.addToItem(item.item, event) : begun
  }

  private addToItem(item: ItemWriter, event: PartEvent): string {
    if (item instanceof MessageItem && (event.kind === 'text' || event.kind === 'refusal')) {
      if (event.kind === 'refusal') this.isRefused = true
      return item.addText(event.part, event.kind, event.text)
    }
    if (item instanceof CallItem) {
      return event.kind === 'tool-arguments' ? item.addArguments(event.json) : ''
    }
    if (!(item instanceof ReasoningItem)) return ''
    if (event.kind === 'thinking') return item.addText(event.text)
    if (event.kind === 'thinking-signature') item.addSignature(event.signature)
    if (event.kind === 'thinking-redacted') item.setRedacted(event.data)
    return ''
  }

  /**
   * Begins the item of a part, unless the item has already begun. Open items to which the part does
   * not belong are ended first.
   */
  private beginPart(event: PartEvent): string {
    if (this.itemsByPart.has(event.part)) return ''
    if (event.kind === 'tool-arguments') return ''
    if (event.kind === 'tool-call') return this.beginCall(event)
    const last = this.items.at(-1)
    const isText = event.kind === 'text' || event.kind === 'refusal'
    if (isText && last?.isOpen === true && last.item instanceof MessageItem) {
      this.itemsByPart.set(event.part, last)
      return ''
    }
    const ended = this.endItems('completed')
    if (!isText) {
      const item = new ReasoningItem(this.nextPlace('rs'), this.emit)
      return ended + this.beginItem(event.part, item)
    }
    const item = new MessageItem(this.nextPlace('msg'), this.emit)
    item.addLogprobs(this.logprobs)
    this.logprobs = []
    return ended + this.beginItem(event.part, item)
  }

  /**
   * Begins a tool call. Parallel calls stay open at the same time, because their arguments may be
   * interleaved.
   */
  private beginCall(event: Extract<PartEvent, { readonly kind: 'tool-call' }>): string {
    const last = this.items.at(-1)
    const ended = last?.item instanceof CallItem ? '' : this.endItems('completed')
    const id = event.id || this.ids.idOf('call', this.items.length)
    const signed = event.signature === undefined ? '' : this.writeSignature(id, event.signature)
    const prefix = this.options.custom.has(event.name) ? 'ctc' : 'fc'
    const call = { id, name: event.name }
    const item = new CallItem(this.nextPlace(prefix), this.emit, call, this.options)
    return ended + signed + this.beginItem(event.part, item)
  }

  private writeSignature(callId: string, signature: string): string {
    const item = new ReasoningItem(this.nextPlace('rs'), this.emit)
    item.setCallSignature(callId, signature)
    this.items.push({ item, isOpen: false })
    return item.begin() + item.end('completed')
  }

  private beginItem(part: number, item: ItemWriter): string {
    const begun = { item, isOpen: true }
    this.items.push(begun)
    this.itemsByPart.set(part, begun)
    return item.begin()
  }

  private nextPlace(prefix: Parameters<ItemIds['idOf']>[0]): ItemPlace {
    const index = this.items.length
    return { index, id: this.ids.idOf(prefix, index) }
  }

  /** Ends all open items. The last of them gets `status`. All others are complete. */
  private endItems(status: ItemStatus): string {
    const open = this.items.filter(({ isOpen }) => isOpen)
    for (const each of open) each.isOpen = false
    const last = open.at(-1)
    return open.map((each) => each.item.end(each === last ? status : 'completed')).join('')
  }

  private addLogprobs(tokens: readonly JsonObject[]): void {
    const last = this.items.at(-1)
    if (last?.isOpen === true && last.item instanceof MessageItem) last.item.addLogprobs(tokens)
    else this.logprobs = [...this.logprobs, ...tokens]
  }

  private end(): string {
    const { status, incomplete_details } = writeStop(this.stop, this.isRefused)
    const ended = this.endItems(status)
    this.isEnded = true
    return ended + this.responseEvent(status, { ...this.stateOf(status), incomplete_details })
  }

  private fail(type: string, message: string): string {
    const code = CODES.get(type) ?? type
    const ended = this.endItems('incomplete')
    this.isEnded = true
    const details = { code, message, param: null }
    const error = this.emit('error', { ...details, error: { type, ...details } })
    const state = { ...this.stateOf('failed'), error: { code, message } }
    return ended + error + this.responseEvent('failed', state)
  }

  private stateOf(status: ResponseState['status']): ResponseState {
    return {
      status,
      error: null,
      incomplete_details: null,
      output: this.items.map(({ item }) => item.item()),
      usage: this.usage === null ? null : writeUsage(this.usage),
    }
  }

  private responseEvent(name: string, state: ResponseState): string {
    const identity = this.identity ?? { id: '', model: '' }
    const response = writeResponse(identity, state, this.options)
    return this.emit(`response.${name}`, { response })
  }

  private readonly emit = (type: string, members: JsonObject): string => {
    const sequence_number = this.sequenceNumber
    this.sequenceNumber += 1
    return namedEvent(type, { type, sequence_number, ...members })
  }
}

/**
 * OpenAI's codes for the error types of other formats. Codex decides by the code whether to repeat
 * a call.
 */
const CODES: ReadonlyMap<string, string> = new Map([
  ['rate_limit_error', 'rate_limit_exceeded'],
  ['RESOURCE_EXHAUSTED', 'rate_limit_exceeded'],
  ['overloaded_error', 'server_error'],
  ['api_error', 'server_error'],
  ['INTERNAL', 'server_error'],
  ['UNAVAILABLE', 'server_error'],
])
