import { type JsonObject, objectOrEmpty, textOrEmpty } from '#relay/canonical/json-values.ts'
import type { CanonicalEvent, StreamReader } from '../../canonical/canonical-answer.ts'
import { readAnswerId, readCallId, readModel } from '../limit-ids-model-names-and-token-counts.ts'
import { inputJsonOf, PARTS_MAX, readRefusalExplanation, readStopSequence } from './read-answer.ts'
import { readStopReason } from './stop-reasons.ts'
import { UsageReports } from './usage.ts'
import { madeUpCallId } from './write-answer.ts'

type Events = readonly CanonicalEvent[]

const NOTHING: Events = []

/** A content block that has started but not stopped. */
type OpenBlock = {
  readonly kind: 'text' | 'thinking' | 'tool-call' | 'skipped'
  /** The number of the block's part in the answer. Null until the block has content. */
  part: number | null
  /**
   * True if the start event of a tool call already contained the arguments. Later deltas would only
   * repeat them.
   */
  hasInput: boolean
  hasArguments: boolean
}

/**
 * Reads the stream of one answer of `POST /v1/messages`. Blocks without a canonical form or without
 * content are skipped. If the stream breaks off before its stop reason, no `end` event is returned.
 * Source: the page "Streaming messages" on platform.claude.com.
 */
export function createStreamReader(fallbackId = ''): StreamReader {
  const state = new StreamState(fallbackId)
  return {
    read: (data, event) => state.read(data, textOrEmpty(data.type) || event),
    finish: () => state.finish(),
  }
}

class StreamState {
  private readonly blocks = new Map<unknown, OpenBlock>()
  private readonly usage = new UsageReports()
  private parts = 0
  private hasToolCalls = false
  private isStarted = false
  private hasBegunPart = false
  private isStopped = false
  private isEnded = false
  private id: string

  constructor(fallbackId: string) {
    this.id = fallbackId
  }

  read(data: JsonObject, type: string): Events {
    if (this.isEnded) return NOTHING
    switch (type) {
      case 'message_start':
        return this.start(objectOrEmpty(data.message))
      case 'content_block_start':
        return this.beginPart(this.startBlock(data.index, objectOrEmpty(data.content_block)))
      case 'content_block_delta':
        return this.delta(data.index, objectOrEmpty(data.delta))
      case 'content_block_stop':
        return this.stopBlock(data.index)
      case 'message_delta':
        return [...this.stop(objectOrEmpty(data.delta)), ...this.report(data.usage)]
      case 'message_stop':
        return this.end()
      case 'error':
        return this.fail(objectOrEmpty(data.error))
      default:
        return NOTHING
    }
  }

  finish(): Events {
    return this.isStopped && !this.isEnded ? this.end() : NOTHING
  }

  private start(message: JsonObject): Events {
    const { id, model, usage } = message
    if (this.isStarted) return this.report(usage)
    this.isStarted = true
    this.id = readAnswerId(id) || this.id
    return [{ kind: 'start', id: this.id, model: readModel(model) }, ...this.report(usage)]
  }

  private report(usage: unknown): Events {
    const counts = this.usage.add(usage)
    return counts === null ? NOTHING : [{ kind: 'usage', usage: counts }]
  }

  /**
   * Returns the events of a block that begins: `content`, or the event `part-begun` if the block is
   * the first one and has no content yet.
   */
  private beginPart(content: Events): Events {
    const isFirst = !this.hasBegunPart
    this.hasBegunPart = true
    return isFirst && content.length === 0 ? [{ kind: 'part-begun', choice: 0 }] : content
  }

  private startBlock(index: unknown, block: JsonObject): Events {
    const open = this.open(index, kindOf(block.type))
    switch (block.type) {
      case 'text':
        return this.text(open, block.text)
      case 'thinking':
        return [...this.thinking(open, block.thinking), ...this.signature(open, block.signature)]
      case 'redacted_thinking':
        return this.content(open, (at) => ({
          ...at,
          kind: 'thinking-redacted',
          data: textOrEmpty(block.data),
        }))
      case 'tool_use':
        return this.startToolCall(open, block)
      default:
        return NOTHING
    }
  }

  /**
   * Opens a block. At most `PARTS_MAX` open blocks are stored, so that a provider can't exhaust the
   * memory.
   */
  private open(index: unknown, kind: OpenBlock['kind']): OpenBlock {
    const block: OpenBlock = { kind, part: null, hasInput: false, hasArguments: false }
    if (this.blocks.size < PARTS_MAX || this.blocks.has(index)) this.blocks.set(index, block)
    return block
  }

  private startToolCall(open: OpenBlock, block: JsonObject): Events {
    const call = this.content(open, (at) => ({
      ...at,
      kind: 'tool-call',
      id: readCallId(block.id) || madeUpCallId(this.id, at.part),
      name: textOrEmpty(block.name),
    }))
    const json = inputJsonOf(block.input) ?? '{}'
    if (call.length === 0) return NOTHING
    this.hasToolCalls = true
    if (json === '{}') return call
    open.hasInput = true
    return [...call, ...this.json(open, json)]
  }

  private delta(index: unknown, delta: JsonObject): Events {
    const open = this.blocks.get(index) ?? this.openFor(index, delta.type)
    if (open === null) return NOTHING
    switch (delta.type) {
      case 'text_delta':
        return this.text(open, delta.text)
      case 'thinking_delta':
        return this.thinking(open, delta.thinking)
      case 'signature_delta':
        return this.signature(open, delta.signature)
      case 'input_json_delta':
        return open.hasInput ? NOTHING : this.json(open, delta.partial_json)
      default:
        return NOTHING
    }
  }

  /**
   * Opens a block for a delta whose start event is missing. Returns null for a delta of a tool
   * call, because the tool's name is unknown.
   */
  private openFor(index: unknown, type: unknown): OpenBlock | null {
    if (type === 'text_delta') return this.open(index, 'text')
    return type === 'thinking_delta' ? this.open(index, 'thinking') : null
  }

  private stopBlock(index: unknown): Events {
    const open = this.blocks.get(index)
    this.blocks.delete(index)
    // A tool call without arguments gets an empty object as arguments.
    const isBare = open?.kind === 'tool-call' && !open.hasArguments
    return isBare ? this.json(open, '{}') : NOTHING
  }

  private text(open: OpenBlock, value: unknown): Events {
    const text = textOrEmpty(value)
    if (open.kind !== 'text' || text === '') return NOTHING
    return this.content(open, (at) => ({ ...at, kind: 'text', text }))
  }

  private thinking(open: OpenBlock, value: unknown): Events {
    const text = textOrEmpty(value)
    if (open.kind !== 'thinking' || text === '') return NOTHING
    return this.content(open, (at) => ({ ...at, kind: 'thinking', text }))
  }

  private signature(open: OpenBlock, value: unknown): Events {
    const signature = textOrEmpty(value)
    if (open.kind !== 'thinking' || signature === '') return NOTHING
    return this.content(open, (at) => ({ ...at, kind: 'thinking-signature', signature }))
  }

  private json(open: OpenBlock, value: unknown): Events {
    const json = textOrEmpty(value)
    if (open.kind !== 'tool-call' || json === '') return NOTHING
    open.hasArguments = true
    return this.content(open, (at) => ({ ...at, kind: 'tool-arguments', json }))
  }

  /**
   * Returns the event for a piece of a block's content. The first piece gives the block's part its
   * number. Parts beyond `PARTS_MAX` are skipped.
   */
  private content(
    open: OpenBlock,
    eventAt: (at: { readonly choice: 0; readonly part: number }) => CanonicalEvent,
  ): Events {
    if (open.part === null) {
      if (this.parts >= PARTS_MAX) return NOTHING
      open.part = this.parts
      this.parts += 1
    }
    return [eventAt({ choice: 0, part: open.part })]
  }

  private stop(delta: JsonObject): Events {
    if (this.isStopped || typeof delta.stop_reason !== 'string') return NOTHING
    this.isStopped = true
    const stop = readStopReason(delta.stop_reason, this.hasToolCalls)
    const stopSequence = readStopSequence(delta.stop_sequence)
    const text = stop === 'refusal' ? readRefusalExplanation(delta.stop_details) : ''
    const refusal =
      text === ''
        ? NOTHING
        : this.content(
            { kind: 'text', part: null, hasInput: false, hasArguments: false },
            (at) => ({ ...at, kind: 'refusal', text }),
          )
    return [...refusal, { kind: 'stop', choice: 0, stop, stopSequence }]
  }

  private end(): Events {
    this.isEnded = true
    const isKnown = this.isStopped
    this.isStopped = true
    if (isKnown) return [{ kind: 'end' }]
    const stop = readStopReason(null, this.hasToolCalls)
    return [{ kind: 'stop', choice: 0, stop, stopSequence: null }, { kind: 'end' }]
  }

  private fail(error: JsonObject): Events {
    this.isEnded = true
    const type = textOrEmpty(error.type) || 'api_error'
    return [{ kind: 'error', type, message: textOrEmpty(error.message) }]
  }
}

function kindOf(type: unknown): OpenBlock['kind'] {
  switch (type) {
    case 'text':
      return 'text'
    case 'thinking':
    case 'redacted_thinking':
      return 'thinking'
    case 'tool_use':
      return 'tool-call'
    default:
      return 'skipped'
  }
}
