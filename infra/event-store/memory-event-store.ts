import type { Recorded } from '#domain/shared/event.ts'
import {
  decodeEvent,
  type EncodedEvent,
  type EncodedStreamAppend,
  encodeAppend,
  exactRevision,
} from './encoded-append.ts'
import { type Appended, type EventStore, RevisionConflict } from './port.ts'
import { createReaderNotification } from './reader-notification.ts'
import { type Page, type PageRequest, subscribe } from './subscription.ts'

type Stored = {
  readonly event: EncodedEvent
  readonly stream: string
  readonly revision: number
  readonly position: number
}

/** Creates an event store in memory for unit tests. */
export function createMemoryEventStore(): EventStore {
  const all: Stored[] = []
  const streams = new Map<string, Stored[]>()
  const notification = createReaderNotification()
  const readAll = async (after: number, limit: number): Promise<Recorded[]> =>
    all.slice(after, after + limit).map(recorded)
  const readPage = async ({ after, limit, isWanted }: PageRequest): Promise<Page> => {
    const stored = all.slice(after, after + limit)
    const matching = isWanted === null ? stored : stored.filter(({ stream }) => isWanted(stream))
    return { events: matching.map(recorded), position: after + stored.length }
  }
  return {
    append: async (given) => {
      const parts = encodeAppend(given)
      const conflict = conflictOf(parts, streams)
      if (conflict !== null) {
        const written = writtenBefore(parts, streams)
        if (written === null) throw conflict
        return written
      }
      const appended = write(parts, all, streams)
      notification.wake()
      return appended
    },
    readStream: async (stream, fromRevision = 0, limit = Number.MAX_SAFE_INTEGER) =>
      (streams.get(stream) ?? []).slice(fromRevision, fromRevision + limit).map(recorded),
    readAll,
    eventAt: async (position) => (await readAll(position - 1, 1))[0] ?? null,
    headPosition: async () => all.length,
    subscribeAll: (after, onBatch, onError, options) =>
      subscribe({ ...options, readPage, notification, after, onBatch, onError }),
    close: async () => notification.close(),
  }
}

type Streams = ReadonlyMap<string, readonly Stored[]>

const recorded = ({ event, ...place }: Stored): Recorded => decodeEvent(event, place)

function conflictOf(
  parts: readonly EncodedStreamAppend[],
  streams: Streams,
): RevisionConflict | null {
  for (const { stream, expected } of parts) {
    const exact = exactRevision(expected)
    const actual = (streams.get(stream)?.length ?? 0) - 1
    if (exact !== null && exact !== actual) return new RevisionConflict(stream, expected, actual)
  }
  return null
}

/** Returns the result of this append if it was written before, or null if not. */
function writtenBefore(parts: readonly EncodedStreamAppend[], streams: Streams): Appended | null {
  const results = parts.map(({ stream, expected, events }) => {
    const stored = streams.get(stream) ?? []
    const firstId = events[0]?.id
    const exact = exactRevision(expected)
    const start = exact ?? stored.findIndex(({ event }) => event.id === firstId) - 1
    const written = stored.slice(start + 1, start + 1 + events.length)
    const isSame = events.every(({ id }, index) => written[index]?.event.id === id)
    return isSame ? { stream, revision: start + events.length, written } : null
  })
  if (results.some((result) => result === null)) return null
  return answerOf(results.filter((result) => result !== null))
}

function write(
  parts: readonly EncodedStreamAppend[],
  all: Stored[],
  streams: Map<string, Stored[]>,
): Appended {
  const written = parts.map(({ stream, events }) => {
    const stored = streams.get(stream) ?? []
    if (events.length === 0) return { stream, revision: stored.length - 1, written: [] }
    const written = events.map((event, index) => ({
      event,
      stream,
      revision: stored.length + index,
      position: all.length + index + 1,
    }))
    all.push(...written)
    stored.push(...written)
    streams.set(stream, stored)
    return { stream, revision: stored.length - 1, written }
  })
  return answerOf(written)
}

function answerOf(
  parts: readonly { stream: string; revision: number; written: readonly Stored[] }[],
): Appended {
  return {
    position: Math.max(0, ...parts.flatMap(({ written }) => written.map((one) => one.position))),
    streams: parts.map(({ stream, revision, written }) => ({
      stream,
      revision,
      positions: written.map(({ position }) => position),
    })),
  }
}
