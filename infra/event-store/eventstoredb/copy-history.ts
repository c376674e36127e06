import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Recorded } from '#domain/shared/event.ts'
import type { ExactStreamAppend } from '../append-connection.ts'
import {
  APPEND_BYTES_MAX,
  bytesOf,
  type EncodedEvent,
  EVENTS_PER_APPEND_MAX,
} from '../encoded-append.ts'
import { firstEventName } from '../store-identity.ts'
import { createExactAppend, type ExactAppend } from './append-at-revision.ts'
import { connectEventStoreDb } from './connection.ts'
import { createEventReads, type EventReads } from './event-reads.ts'
import { type CopySource, createCopySource, type SourceEvent } from './postgres-copy-source.ts'

type Options = {
  readonly pg: Pool
  readonly url: string
  readonly log: Logger
  /** Called during the copy with the number of events that the target has. */
  readonly onProgress?: (copied: number) => void
}

/** Thrown when the target contains events that are not the first events of the source. */
class ForeignTarget extends Error {
  readonly isOperatorError = true
  constructor(stream: string) {
    super(`EVENTSTORE_URL: contains events of another history, for example in stream ${stream}`)
    this.name = 'ForeignTarget'
  }
}

const APPEND_WITHIN_MS = 60_000

/**
 * Copies a history from Postgres to EventStoreDB: streams, revisions, ids, types, bytes, metadata
 * and global order. If the copy is restarted, it continues after the last event that the target
 * already has. At the end, source and target are compared.
 */
export async function copyHistory(options: Options): Promise<Comparison> {
  const { pg, url, log, onProgress = () => {} } = options
  const [writing, reading] = [connectEventStoreDb(url), connectEventStoreDb(url)]
  const reads = createEventReads(reading)
  const append = createExactAppend({ connection: writing, reads, log, replyWithinMs: 10_000 })
  const source = createCopySource(pg)
  try {
    let position = await reachedBefore(source, reads)
    for (;;) {
      const page = await source.after(position)
      const last = page.at(-1)
      if (last === undefined) break
      for (const part of partsOf(page)) await copyPart(part, append)
      position = last.position
      onProgress(position)
    }
    return await compareHistories(source, reads)
  } finally {
    writing.close()
    reading.close()
  }
}

/**
 * Returns the position, in the source, of the last event that the target has; 0 for an empty
 * target.
 */
async function reachedBefore(source: CopySource, reads: EventReads): Promise<number> {
  const [first] = await reads.readAll(0, 1)
  if (first === undefined) return 0
  const ends = [first, await lastEvent(reads)]
  let position = 0
  for (const { recorded } of ends) {
    const found = await source.positionOf(recorded.stream, recorded.revision, recorded.id)
    if (found === null) throw new ForeignTarget(recorded.stream)
    position = found
  }
  return position
}

async function lastEvent(reads: EventReads) {
  const head = await reads.headPosition()
  const last = await reads.eventAt(head)
  if (last === null) throw new Error(`no event at position ${head} of the target`)
  return last
}

/** Groups consecutive events of one stream into appends, each within the limits of one append. */
function partsOf(events: readonly SourceEvent[]): ExactStreamAppend[] {
  const parts: { stream: string; expected: number; events: SourceEvent['event'][] }[] = []
  let bytes = 0
  for (const { stream, revision, event } of events) {
    const last = parts.at(-1)
    bytes += bytesOf(event)
    const isFull = bytes > APPEND_BYTES_MAX || last?.events.length === EVENTS_PER_APPEND_MAX
    if (last?.stream === stream && !isFull) last.events.push(event)
    else {
      parts.push({ stream, expected: revision - 1, events: [event] })
      bytes = bytesOf(event)
    }
  }
  return parts
}

async function copyPart(part: ExactStreamAppend, append: ExactAppend): Promise<void> {
  for (const { id, data } of part.events) {
    // The client stores `JSON.stringify` of the parsed data, which must equal the original text.
    if (JSON.stringify(JSON.parse(data)) !== data) {
      throw new Error(`event ${id} of stream ${part.stream}: its bytes would change`)
    }
  }
  const result = await append(part, performance.now() + APPEND_WITHIN_MS)
  if (!result.isWritten) throw new ForeignTarget(part.stream)
}

type Comparison = {
  readonly streams: number
  readonly events: number
  /** The names of at most a hundred streams whose events differ between source and target. */
  readonly different: readonly string[]
  readonly isSameOrder: boolean
  /** Identifies the target's history by its first event; null for an empty target. */
  readonly firstEvent: string | null
}

type End = {
  readonly streams: Map<string, { count: number; hash: string }>
  events: number
  order: string
  firstEvent: string | null
}

const PAGE = 2_000
const DIFFERENT_MAX = 100

/** Compares the ids and bytes of the events in every stream, and the order of all events. */
async function compareHistories(source: CopySource, target: EventReads): Promise<Comparison> {
  const [one, two] = await Promise.all([sourceEnd(source), targetEnd(target)])
  const names = [...new Set([...one.streams.keys(), ...two.streams.keys()])].sort()
  const different = names.filter(
    (name) => one.streams.get(name)?.hash !== two.streams.get(name)?.hash,
  )
  return {
    streams: one.streams.size,
    events: one.events,
    different: different.slice(0, DIFFERENT_MAX),
    isSameOrder: one.order === two.order,
    firstEvent: two.firstEvent,
  }
}

async function sourceEnd(source: CopySource): Promise<End> {
  const end: End = { streams: new Map(), events: 0, order: '', firstEvent: null }
  for (let position = 0; ; ) {
    const page = await source.after(position)
    for (const { stream, revision, event } of page) add(end, stream, revision, event)
    const last = page.at(-1)
    if (last === undefined) return end
    position = last.position
  }
}

async function targetEnd(target: EventReads): Promise<End> {
  const end: End = { streams: new Map(), events: 0, order: '', firstEvent: null }
  for (let position = 0; ; ) {
    const page = await target.readAll(position, PAGE)
    for (const { recorded } of page) {
      end.firstEvent ??= firstEventName(recorded)
      add(end, recorded.stream, recorded.revision, encodedOf(recorded))
    }
    const last = page.at(-1)
    if (last === undefined) return end
    position = last.recorded.position
  }
}

const encodedOf = ({ id, type, v, data, meta }: Recorded): EncodedEvent => ({
  id,
  type,
  v,
  meta,
  data: JSON.stringify(data),
})

function add(end: End, stream: string, revision: number, event: EncodedEvent): void {
  const { id, type, v, data, meta } = event
  const before = end.streams.get(stream) ?? { count: 0, hash: '' }
  const text = JSON.stringify([id, revision, type, v, meta.actor, meta.cause, meta.at])
  const hash = sha256(`${before.hash}\n${text}\n${data}`)
  end.streams.set(stream, { count: before.count + 1, hash })
  end.events += 1
  end.order = sha256(`${end.order}\n${id}`)
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64')
