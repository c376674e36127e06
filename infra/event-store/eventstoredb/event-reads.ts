import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  NotLeaderError,
  START,
  StreamNotFoundError,
} from '@eventstore/db-client'
import { StoreUnavailable } from '../port.ts'
import type { Connection } from './connection.ts'
import {
  isSystem,
  type Resolved,
  type StoredEvent,
  safePosition,
  storedEvent,
} from './stored-event.ts'

export type EventReads = {
  readonly readStream: (stream: string, from: number, limit: number) => Promise<StoredEvent[]>
  readonly readAll: (after: number, limit: number) => Promise<StoredEvent[]>
  /** Returns the revision of the last event, or -1 if the stream does not exist. */
  readonly lastRevision: (stream: string) => Promise<number>
  readonly headPosition: () => Promise<number>
  /**
   * Returns the event at exactly this position. Returns null if no event begins there, or if the
   * server itself wrote the event.
   */
  readonly eventAt: (position: number) => Promise<StoredEvent | null>
}

/** Reads go to the leader node, because a follower may lag and decisions depend on the result. */
const CURRENT = { requiresLeader: true, direction: FORWARDS } as const
const READ_WITHIN_MS = 5_000
const TRIES = 3
const PAGE_MIN = 16
/** The number of records in a page whose events are skipped. */
const SKIPPED_PAGE = 2_000
const HEAD_PAGE_MIN = 4
const HEAD_PAGE_MAX = 512

/**
 * Creates functions that read events. These functions throw `StoreUnavailable` after a time limit.
 */
export function createEventReads(connection: Connection): EventReads {
  const collect: Collect = async (open) => {
    for (let attempt = 1; ; attempt += 1) {
      const client = connection.client()
      try {
        return await collected(open(client))
      } catch (error) {
        if (error instanceof StreamNotFoundError) return []
        // After a change of the leader node, the client connects to the new leader by itself, so
        // the client is not replaced.
        const isFinal = isInvalidPosition(error)
        if (!isFinal && !(error instanceof NotLeaderError)) connection.replace(client)
        if (!isFinal && attempt < TRIES) continue
        throw new StoreUnavailable('the event store could not be read', { cause: error })
      }
    }
  }
  return {
    readStream: async (stream, from, limit) => {
      const fromRevision = from === 0 ? START : BigInt(from)
      const resolved = await collect((client) =>
        client.readStream(stream, { ...CURRENT, fromRevision, maxCount: limit }),
      )
      return resolved.map(storedEvent).filter((event) => event !== null)
    },
    lastRevision: async (stream) => {
      const [last] = await collect((client) =>
        client.readStream(stream, {
          ...CURRENT,
          fromRevision: END,
          maxCount: 1,
          direction: BACKWARDS,
        }),
      )
      return Number(last?.event?.revision ?? -1n)
    },
    readAll: (after, limit) => readAll(collect, after, limit),
    eventAt: (position) => eventAt(collect, position),
    headPosition: headReader(collect),
  }
}

const INVALID_ARGUMENT = 3

/**
 * Reports whether the server has no record at the start position of a read. Neither a retry nor
 * another connection can change this.
 */
const isInvalidPosition = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === INVALID_ARGUMENT

type Reading = {
  on(event: 'data', listener: (resolved: Resolved) => void): unknown
  on(event: 'end', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  cancel(): Promise<void>
}
type Collect = (open: (client: EventStoreDBClient) => Reading) => Promise<Resolved[]>

function collected(reading: Reading): Promise<Resolved[]> {
  const found: Resolved[] = []
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      reject(new Error(`no answer within ${READ_WITHIN_MS} ms`))
      reading.cancel().catch(() => {})
    }, READ_WITHIN_MS)
    // NOTE: an error without a listener would end the process, so the listener is never removed.
    reading.on('error', (error) => {
      clearTimeout(late)
      reject(error)
    })
    reading.on('data', (resolved) => found.push(resolved))
    reading.on('end', () => {
      clearTimeout(late)
      resolve(found)
    })
  })
}

export const exactPosition = (position: number) =>
  position === 0 ? START : { commit: BigInt(position), prepare: BigInt(position) }

/** Returns the event at exactly this position; null if there is none, or if it is the server's. */
async function eventAt(collect: Collect, position: number): Promise<StoredEvent | null> {
  if (position < 1) return null
  const [resolved] = await collect((client) =>
    client.readAll({ ...CURRENT, fromPosition: exactPosition(position), maxCount: 1 }),
  ).catch((error: unknown) => (isRefusedPosition(error) ? [] : Promise.reject(error)))
  const event = resolved === undefined ? null : storedEvent(resolved)
  return event?.recorded.position === position ? event : null
}

const isRefusedPosition = (error: unknown): boolean =>
  error instanceof StoreUnavailable && isInvalidPosition(error.cause)

/**
 * Returns up to `limit` of this product's events after the position `after`. The server reads only
 * from the position of a record. From any other position, the next one is tried, because callers
 * often ask for the events after the position before an event. If no event is there either, all
 * events are read from the beginning and skipped up to `after`.
 */
async function readAll(collect: Collect, after: number, limit: number): Promise<StoredEvent[]> {
  try {
    return await readFrom(collect, { start: after, after, limit })
  } catch (error) {
    if (!isRefusedPosition(error)) throw error
  }
  const next = await eventAt(collect, after + 1)
  if (next === null) return await readFrom(collect, { start: 0, after, limit })
  const more = limit === 1 ? [] : await readAll(collect, after + 1, limit - 1)
  return [next, ...more]
}

/** Events after `after` are read. The read begins at the position `start`, which has a record. */
type Reach = { readonly start: number; readonly after: number; readonly limit: number }

/** Skips the server's own events, which the pages of the server also contain. */
async function readFrom(collect: Collect, { start, after, limit }: Reach): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for (let from = start; ; ) {
    const pageMin = from < after ? SKIPPED_PAGE : PAGE_MIN
    const maxCount = Math.max(limit - events.length, pageMin) + 1
    const page = await collect((client) =>
      client.readAll({ ...CURRENT, fromPosition: exactPosition(from), maxCount }),
    )
    for (const resolved of page) {
      const position = safePosition(resolved.event?.position?.commit ?? resolved.commitPosition)
      // The server's page includes the event at the start position.
      if (position <= from) continue
      from = position
      const event = position <= after ? null : storedEvent(resolved)
      if (event !== null) events.push(event)
      if (events.length === limit) return events
    }
    if (page.length < maxCount) return events
  }
}

/**
 * Creates a function that returns the position of this product's last event. The function reads
 * backwards over the server's own events, at most to the position that its previous call returned.
 */
function headReader(collect: Collect): () => Promise<number> {
  let lastHead = { end: 0, head: 0 }
  return async () => {
    const before = lastHead
    let end = before.end
    let pageSize = HEAD_PAGE_MIN
    let last: number | null = null
    for (;;) {
      const fromPosition = last === null ? END : exactPosition(last)
      const maxCount = pageSize
      const page = await collect((client) =>
        client.readAll({ ...CURRENT, fromPosition, maxCount, direction: BACKWARDS }),
      )
      for (const { event, commitPosition } of page) {
        const position = safePosition(event?.position?.commit ?? commitPosition)
        if (last !== null && position >= last) continue
        last = position
        end = Math.max(end, position)
        const isKnown = position <= before.end
        if (!isKnown && (event === undefined || isSystem(event))) continue
        const head = isKnown ? before.head : position
        if (end > lastHead.end) lastHead = { end, head }
        return head
      }
      if (page.length < maxCount) return 0
      pageSize = Math.min(pageSize * 4, HEAD_PAGE_MAX)
    }
  }
}
