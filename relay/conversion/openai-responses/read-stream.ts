import { type JsonObject, objectOf, objectsOf, textOf } from '#relay/canonical/json-values.ts'
import type { CanonicalEvent, StreamReader } from '../../canonical/canonical-answer.ts'
import { PARTS_MAX, readError, readFailure } from './read-answer.ts'
import { ItemReader, OpenParts } from './read-stream-item.ts'
import { readStop } from './stop-reason.ts'
import { readUsage } from './usage.ts'

/**
 * Reads the events of a streamed response. Texts and arguments are read from their deltas. Content
 * that the deltas lack is read from the complete item or the complete response. The last event of
 * the response gives the event `end`. `finish` returns nothing, so a stream that was cut off has no
 * `end`.
 */
export const createStreamReader = (fallbackId = ''): StreamReader => new EventReader(fallbackId)

const LAST_EVENTS: ReadonlySet<unknown> = new Set([
  ...['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'],
])

class EventReader implements StreamReader {
  private readonly parts = new OpenParts()
  /** The items, by output index. */
  private readonly items = new Map<number, ItemReader>()
  private answerId: string
  private isStarted = false
  private hasBegunPart = false
  private hasFailed = false
  private isEnded = false

  constructor(fallbackId: string) {
    this.answerId = fallbackId
  }

  read(data: JsonObject, event: string): readonly CanonicalEvent[] {
    const type = textOf(data.type) || event
    if (this.isEnded) return []
    const response = objectOf(data.response)
    if (this.hasFailed) return this.usageOf(response)
    const error = objectOf(data.error) ?? (type === 'error' ? data : null)
    if (error !== null) return this.fail(readError(error))
    if (response !== null) return this.readResponse(type, response)
    const events = type.startsWith('response.output_item.')
      ? this.readItem(type, data)
      : (this.itemOf(type, data)?.read(type, data) ?? [])
    return events.length === 0 ? [] : [...this.start(null), ...events]
  }

  finish(): readonly CanonicalEvent[] {
    return []
  }

  private start(response: JsonObject | null): readonly CanonicalEvent[] {
    if (this.isStarted) return []
    this.isStarted = true
    this.answerId = textOf(response?.id) || this.answerId
    return [{ kind: 'start', id: this.answerId, model: textOf(response?.model) ?? '' }]
  }

  private usageOf(response: JsonObject | null): readonly CanonicalEvent[] {
    const usage = readUsage(response ?? {})
    return usage === null ? [] : [{ kind: 'usage', usage }]
  }

  private fail(failure: { readonly type: string; readonly message: string }): CanonicalEvent[] {
    this.hasFailed = true
    return [{ kind: 'error', ...failure }]
  }

  private readResponse(type: string, response: JsonObject): readonly CanonicalEvent[] {
    const started = this.start(response)
    return LAST_EVENTS.has(type) ? [...started, ...this.readLast(type, response)] : started
  }

  private readLast(type: string, last: JsonObject): readonly CanonicalEvent[] {
    const response = { ...last, status: last.status ?? type.slice('response.'.length) }
    const failure = readFailure(response)
    const usage = this.usageOf(response)
    if (failure !== null) return [...usage, ...this.fail(failure)]
    const rest = this.readOutput(response)
    const items = [...this.items.values()]
    const stop = readStop(response, {
      hasCalls: items.some(({ isCall }) => isCall),
      isRefused: items.some(({ isRefused }) => isRefused),
    })
    this.isEnded = true
    return [
      ...rest,
      ...usage,
      { kind: 'stop', choice: 0, stop, stopSequence: null },
      { kind: 'end' },
    ]
  }

  /**
   * Reads the complete output at the end of a stream. Returns only content that the earlier events
   * lacked.
   */
  private readOutput(response: JsonObject): readonly CanonicalEvent[] {
    const streamed = new Set([...this.items.values()].map(({ id }) => id))
    return objectsOf(response.output).flatMap((item, index) => {
      const existing = this.items.get(index)
      if (existing === undefined && streamed.has(textOf(item.id) ?? '')) return []
      return this.readerOf(item, index)?.readComplete(item) ?? []
    })
  }

  private readItem(type: string, data: JsonObject): readonly CanonicalEvent[] {
    const item = objectOf(data.item)
    if (item === null) return []
    const index = indexOf(data) ?? this.indexOfId(item.id) ?? this.items.size
    const reader = this.readerOf(item, index)
    if (type.endsWith('.done')) return reader?.readComplete(item) ?? []
    return this.beginPart(reader?.begin(item) ?? [])
  }

  /**
   * Returns the events of an item that begins: `content`, or the event `part-begun` if the item is
   * the first one and has no content yet.
   */
  private beginPart(content: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    const isFirst = !this.hasBegunPart
    this.hasBegunPart = true
    return isFirst && content.length === 0 ? [{ kind: 'part-begun', choice: 0 }] : content
  }

  private readerOf(item: JsonObject, index: number): ItemReader | null {
    const existing = this.items.get(index)
    if (existing !== undefined) return existing.type === item.type ? existing : null
    if (this.items.size >= PARTS_MAX) return null
    const reader = new ItemReader(item, this.parts, this.answerId, this.items.size)
    this.items.set(index, reader)
    return reader
  }

  private itemOf(type: string, data: JsonObject): ItemReader | null {
    const index = indexOf(data) ?? this.indexOfId(data.item_id)
    return index === null
      ? null
      : (this.items.get(index) ?? this.unannounced(type, data.item_id, index))
  }

  /**
   * Returns the reader for an event of an item that no earlier event announced. Some providers send
   * texts without announcing the item. Returns null for an event without an item.
   */
  private unannounced(event: string, id: unknown, index: number): ItemReader | null {
    const type = ITEM_TYPES.find(([prefix]) => event.startsWith(prefix))?.[1]
    return type === undefined ? null : this.readerOf({ type, id }, index)
  }

  private indexOfId(id: unknown): number | null {
    for (const [index, item] of this.items) if (item.id !== '' && item.id === id) return index
    return null
  }
}

const ITEM_TYPES: readonly (readonly [prefix: string, type: string])[] = [
  ['response.output_text.', 'message'],
  ['response.refusal.', 'message'],
  ['response.reasoning_', 'reasoning'],
]

const indexOf = ({ output_index }: JsonObject): number | null =>
  Number.isSafeInteger(output_index) ? (output_index as number) : null
