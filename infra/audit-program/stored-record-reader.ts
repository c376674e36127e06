import type { Pool } from 'pg'
import type { Recorded } from '#domain/shared/event.ts'
import type { EventStore } from '../event-store/port.ts'
import { EVENT_COLUMNS, type EventRow } from '../event-store/postgres-event-reader.ts'
import type { StoredRecord } from './stored-record.ts'

/** Reads stored events (records) in the order of their positions. */
export type RecordReader = {
  /**
   * Returns up to `limit` records after the position `after`, or an empty list if there are none.
   */
  readonly read: (after: number, limit: number) => Promise<readonly StoredRecord[]>
  /** Returns up to `limit` records of a stream, beginning with the revision `from`. */
  readonly readStream: (
    stream: string,
    from: number,
    limit: number,
  ) => Promise<readonly StoredRecord[]>
  readonly head: () => Promise<number>
  readonly arePositionsDense: boolean
}

const QUERY = `select ${EVENT_COLUMNS}
  from event_store.events where position > $1 order by position limit $2`
const STREAM_QUERY = `select ${EVENT_COLUMNS} from event_store.events
  where stream = $1 and revision >= $2 order by revision limit $3`

const recordOfRow = (row: EventRow): StoredRecord => ({
  position: Number(row[0]),
  stream: row[1],
  revision: Number(row[2]),
  id: row[3],
  type: row[4],
  v: row[5],
  at: Number(row[9]),
  actor: row[7],
  cause: row[8],
  data: row[6],
})

/**
 * Reads the tables of the event store in Postgres directly, so that gaps in the positions stay
 * visible.
 */
export const postgresRecords = (pg: Pool): RecordReader => ({
  read: async (after, limit) => {
    const query = { name: 'audit-records', text: QUERY, values: [after, limit] }
    const { rows } = await pg.query<EventRow>({ ...query, rowMode: 'array' })
    return rows.map(recordOfRow)
  },
  readStream: async (stream, from, limit) => {
    const values = [stream, from, limit]
    const query = { name: 'audit-records-of-stream', text: STREAM_QUERY, values }
    const { rows } = await pg.query<EventRow>({ ...query, rowMode: 'array' })
    return rows.map(recordOfRow)
  },
  head: async () => {
    const { rows } = await pg.query<{ position: string }>('select position from event_store.head')
    return Number(rows[0]?.position ?? 0)
  },
  arePositionsDense: true,
})

/**
 * Reads any event store through its interface. The `data` of a record is the event's data
 * serialized as JSON.
 */
export const storeRecords = (store: EventStore): RecordReader => ({
  read: async (after, limit) => (await store.readAll(after, limit)).map(recordOfEvent),
  readStream: async (stream, from, limit) =>
    (await store.readStream(stream, from, limit)).map(recordOfEvent),
  head: () => store.headPosition(),
  arePositionsDense: false,
})

const recordOfEvent = ({ meta, data, ...event }: Recorded): StoredRecord => ({
  ...{ position: event.position, stream: event.stream, revision: event.revision },
  ...{ id: event.id, type: event.type, v: event.v },
  ...{ at: meta.at, actor: meta.actor, cause: meta.cause, data: JSON.stringify(data) },
})
