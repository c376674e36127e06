import type { Pool } from 'pg'
import type { Recorded } from '#domain/shared/event.ts'
import { LANE_COUNT } from '../event-bus/lane-of-stream.ts'
import type { ExactStreamAppend } from './append-connection.ts'
import { type Appended, type EventStore, StoreUnavailable } from './port.ts'
import type { StoredPage } from './recent-events-buffer.ts'
import type { PageRequest } from './subscription.ts'

/** The columns of an event in the order of `EventRow`. */
export const EVENT_COLUMNS = 'position, stream, revision, id, type, v, data, actor, cause, at'

/** A row of the events table as an array, with the columns of `EVENT_COLUMNS`. */
export type EventRow = [
  position: string,
  stream: string,
  revision: string,
  id: string,
  type: string,
  v: number,
  data: string,
  actor: string,
  cause: string | null,
  at: string,
]

/**
 * Caches one string object per event type. The driver creates a new string for each value. When a
 * projection looks up the handler of an event type, the hash of each new string would have to be
 * computed.
 */
const types = new Map<string, string>()
const TYPES_MAX = 1_000

function sharedType(type: string): string {
  const shared = types.get(type)
  if (shared !== undefined) return shared
  if (types.size < TYPES_MAX) types.set(type, type)
  return type
}

const recorded = (row: EventRow): Recorded => ({
  type: sharedType(row[4]),
  v: row[5],
  data: JSON.parse(row[6]),
  id: row[3],
  meta: { actor: row[7], cause: row[8], at: Number(row[9]) },
  stream: row[1],
  revision: Number(row[2]),
  position: Number(row[0]),
})

/**
 * The SQL form of `laneOf`: computes the lane of a stream from the last three characters of its id.
 */
export const LANE_OF_STREAM = `(
  ascii(split_part(reverse(stream), '-', 1))
  + 2 * ascii(substr(split_part(reverse(stream), '-', 1), 2, 1))
  + 4 * ascii(substr(split_part(reverse(stream), '-', 1), 3, 1))
) % ${LANE_COUNT}`

/** The number of positions that one query covers if events are filtered by stream prefix. */
const FILTERED_WINDOW = 50_000

export type EventReader = {
  readonly readStream: (stream: string, from: number, limit: number) => Promise<Recorded[]>
  readonly readAll: EventStore['readAll']
  /**
   * Reads one page of events for a subscription. `head` is a position that is known to be
   * committed.
   */
  readonly readPage: (request: PageRequest, head: number) => Promise<StoredPage>
  readonly headPosition: () => Promise<number>
  /**
   * Returns the last revision of each stream by name. A stream that does not exist has no entry.
   */
  readonly revisionsOf: (streams: readonly string[]) => Promise<Map<string, number>>
  readonly findWritten: (parts: readonly ExactStreamAppend[]) => Promise<Appended | null>
}

/**
 * Creates a reader of the event tables. The reader's methods throw `StoreUnavailable` if a query
 * fails.
 */
export function createEventReader(pg: Pool): EventReader {
  const query = async <R extends unknown[]>(name: string, text: string, values: unknown[]) => {
    try {
      return (await pg.query<R>({ name, text, values, rowMode: 'array' })).rows
    } catch (error) {
      throw new StoreUnavailable('the event store could not be read', { cause: error })
    }
  }
  const readStream = async (stream: string, from: number, limit: number) =>
    (
      await query<EventRow>(
        'events-of-stream',
        `select ${EVENT_COLUMNS} from event_store.events
         where stream = $1 and revision >= $2 order by revision limit $3`,
        [stream, from, limit],
      )
    ).map(recorded)
  // An empty page would mean that there are no more events. The query therefore includes the event
  // at the last position of the page, even if this event belongs to another lane.
  const readLanes = async (after: number, limit: number, lanes: readonly number[]) =>
    (
      await query<EventRow>(
        'events-of-lanes',
        `select ${EVENT_COLUMNS} from event_store.events
         where position > $1 and position <= $1 + $2
           and (${LANE_OF_STREAM} = any($3::int[]) or position = $1 + $2)
         order by position`,
        [after, limit, lanes],
      )
    ).map(recorded)
  const readAll: EventStore['readAll'] = async (after, limit, lanes) => {
    if (lanes !== undefined) return await readLanes(after, limit, lanes)
    return (
      await query<EventRow>(
        'events-of-all',
        `select ${EVENT_COLUMNS} from event_store.events
         where position > $1 and position <= $1 + $2 order by position`,
        [after, limit],
      )
    ).map(recorded)
  }
  return {
    readStream,
    readAll,
    readPage: (request, head) => readPage(request, head, query),
    headPosition: async () => {
      const rows = await query<[string]>('head', 'select position from event_store.head', [])
      return Number(rows[0]?.[0] ?? 0)
    },
    revisionsOf: async (streams) => {
      const rows = await query<[string, string]>(
        'revisions',
        'select stream, revision from event_store.streams where stream = any($1)',
        [streams],
      )
      return new Map(rows.map(([stream, revision]) => [stream, Number(revision)]))
    },
    findWritten: (parts) => findWritten(parts, readStream),
  }
}

type Query = <R extends unknown[]>(name: string, text: string, values: unknown[]) => Promise<R[]>

async function readPage(
  { after, limit, streamPrefixes }: PageRequest,
  head: number,
  query: Query,
): Promise<StoredPage> {
  const end = Math.min(head, after + (streamPrefixes === null ? limit : FILTERED_WINDOW))
  if (end <= after) return { events: [], position: after, lengths: [] }
  const rows = await query<EventRow>(
    'events-of-page',
    `select ${EVENT_COLUMNS} from event_store.events
     where position > $1 and position <= $2
       and ($3::text[] is null or stream ^@ any($3::text[]))
     order by position limit $4`,
    [after, end, streamPrefixes, limit],
  )
  const events = rows.map(recorded)
  const position = rows.length < limit ? end : (events.at(-1)?.position ?? end)
  return { events, position, lengths: rows.map((row) => row[6].length) }
}

/**
 * Returns the result of an append that an earlier attempt has written, or null if no attempt has
 * written it. Looks for each event id at the revision at which the earlier attempt would have
 * written the event.
 */
async function findWritten(
  parts: readonly ExactStreamAppend[],
  readStream: EventReader['readStream'],
): Promise<Appended | null> {
  const streams: Appended['streams'][number][] = []
  for (const { stream, expected, events } of parts) {
    const stored = await readStream(stream, expected + 1, events.length)
    if (!events.every(({ id }, index) => stored[index]?.id === id)) return null
    streams.push({
      stream,
      revision: expected + events.length,
      positions: stored.map(({ position }) => position),
    })
  }
  return { position: Math.max(0, ...streams.flatMap(({ positions }) => positions)), streams }
}
