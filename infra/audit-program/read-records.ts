import type { Pool } from 'pg'
import type { EventStore } from '../event-store/port.ts'
import type { StoredRecord } from './stored-record.ts'

/** Reads events as they are stored, in the order of their positions. */
export type RecordReader = {
  /** Returns the records after `position`. Empty if there are no more. */
  readonly read: (after: number, limit: number) => Promise<readonly StoredRecord[]>
  readonly head: () => Promise<number>
  readonly arePositionsDense: boolean
}

type Row = [
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

const QUERY = `select position, stream, revision, id, type, v, data, actor, cause, at
  from event_store.events where position > $1 order by position limit $2`

/** Reads the tables of the event store in Postgres, gaps included. */
export const postgresRecords = (pg: Pool): RecordReader => ({
  read: async (after, limit) => {
    const query = { name: 'audit-records', text: QUERY, values: [after, limit] }
    const { rows } = await pg.query<Row>({ ...query, rowMode: 'array' })
    return rows.map((row) => ({
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
    }))
  },
  head: async () => {
    const { rows } = await pg.query<{ position: string }>('select position from event_store.head')
    return Number(rows[0]?.position ?? 0)
  },
  arePositionsDense: true,
})

/** Reads another store. Its data is the JSON text of the event, as the store wrote it. */
export const storeRecords = (store: EventStore): RecordReader => ({
  read: async (after, limit) => {
    const events = await store.readAll(after, limit)
    return events.map(({ meta: { at, actor, cause }, data, ...event }) => {
      const { position, stream, revision, id, type, v } = event
      return {
        position,
        stream,
        revision,
        id,
        type,
        v,
        at,
        actor,
        cause,
        data: JSON.stringify(data),
      }
    })
  },
  head: () => store.headPosition(),
  arePositionsDense: false,
})
