import { type JsonObject, objectOf, objectsOf, textOf } from '#relay/canonical/json-values.ts'
import type { CanonicalEvent, StreamReader } from '../../canonical/canonical-answer.ts'
import { readAnswerId, readModel } from '../limit-ids-model-names-and-token-counts.ts'
import { CHOICES_MAX } from './read-answer.ts'
import { ChoiceReader } from './read-stream-choice.ts'
import { readUsage } from './usage.ts'

/**
 * Reads the chunks of a streamed answer. `[DONE]` is not read as a chunk. `finish` is called when
 * the stream ends.
 */
export function createStreamReader(fallbackId = ''): StreamReader {
  return new ChunkReader(fallbackId)
}

class ChunkReader implements StreamReader {
  private readonly choices = new Map<number, ChoiceReader>()
  private id: string | null = null
  private hasFailed = false
  private readonly fallbackId: string

  constructor(fallbackId: string) {
    this.fallbackId = fallbackId
  }

  read(data: JsonObject, event: string): readonly CanonicalEvent[] {
    if (this.hasFailed) return []
    const error = readError(data, event)
    if (error !== null) {
      this.hasFailed = true
      return [error]
    }
    const choices = objectsOf(data.choices)
    const usage = readUsage(data)
    // Azure begins with a chunk that has neither an id nor a choice.
    if (choices.length === 0 && usage === null) return []
    const events: CanonicalEvent[] = []
    if (this.id === null) {
      this.id = readAnswerId(data.id) || this.fallbackId
      events.push({ kind: 'start', id: this.id, model: readModel(data.model) })
    }
    for (const [at, choice] of choices.entries()) {
      // Events are added one by one, because the number of arguments of `push` is limited.
      const read = this.readerOf(choice, at, this.id)?.read(choice) ?? []
      for (const event of read) events.push(event)
    }
    if (usage !== null) events.push({ kind: 'usage', usage })
    return events
  }

  finish(): readonly CanonicalEvent[] {
    if (this.hasFailed) return []
    const stops = [...this.choices.values()].flatMap((choice) => choice.finish())
    return [...stops, { kind: 'end' }]
  }

  private readerOf(choice: JsonObject, at: number, answerId: string): ChoiceReader | null {
    const index = Number.isInteger(choice.index) ? (choice.index as number) : at
    if (index < 0 || index >= CHOICES_MAX) return null
    const existing = this.choices.get(index)
    if (existing !== undefined) return existing
    const reader = new ChoiceReader(index, answerId)
    this.choices.set(index, reader)
    return reader
  }
}

/**
 * Reads an error within a stream. The error is in the member `error`, or is the data of an event
 * with the name `error`. Returns null for any other event.
 */
function readError(data: JsonObject, event: string): CanonicalEvent | null {
  const text = textOf(data.error)
  const error = objectOf(data.error) ?? (event === 'error' ? data : null)
  if (error === null && !text) return null
  const type = textOf(error?.type) || textOf(error?.code) || 'error'
  return { kind: 'error', type, message: text ?? textOf(error?.message) ?? '' }
}
