import { EVENT_BYTES_MAX } from '#relay/canonical/sse-scanner.ts'
import type { ProviderEvent } from './chat-translation.ts'

const LINE_FEED = 10
const NO_FIELDS: Readonly<Record<string, string>> = {}

/** Splits the bytes of a stream into server-sent events, each with all its fields. */
export class EventSplitter {
  /** True once an event exceeds `EVENT_BYTES_MAX`. The rest of the stream can't be read. */
  isTooLarge = false
  private parts: Buffer[] = []
  private length = 0
  private fields: Record<string, string> | null = null

  /** Returns the events that the chunk completes. */
  push(chunk: Buffer): readonly ProviderEvent[] {
    const events: ProviderEvent[] = []
    let start = 0
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      this.keep(chunk.subarray(start, at))
      start = at + 1
      if (this.isTooLarge) return events
      const event = this.endLine()
      if (event !== null) events.push(event)
    }
    this.keep(Buffer.from(chunk.subarray(start)))
    return events
  }

  /** Returns the last event, if the stream ended without a blank line. */
  finish(): readonly ProviderEvent[] {
    const events = [this.endLine(), this.endEvent()]
    return events.filter((event) => event !== null)
  }

  private keep(bytes: Buffer): void {
    this.length += bytes.length
    if (this.length > EVENT_BYTES_MAX) {
      this.isTooLarge = true
      this.parts = []
    } else if (bytes.length > 0) this.parts.push(bytes)
  }

  private endLine(): ProviderEvent | null {
    const line = Buffer.concat(this.parts).toString('utf8').replace(/\r$/, '')
    this.parts = []
    if (line === '') return this.endEvent()
    const colon = line.indexOf(':')
    if (colon === 0) return null
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    this.fields ??= {}
    const earlier = name === 'data' ? this.fields.data : undefined
    this.fields[name] = earlier === undefined ? value : `${earlier}\n${value}`
    return null
  }

  private endEvent(): ProviderEvent | null {
    const { fields } = this
    this.fields = null
    this.length = 0
    if (fields === null) return null
    return { name: fields.event ?? '', data: fields.data ?? '', fields: fields ?? NO_FIELDS }
  }
}
