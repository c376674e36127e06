import type { Pool } from 'pg'
import type { EncodedEvent } from '../encoded-append.ts'

/** An event as Postgres stores it. `event.data` is the exact JSON text. */
export type SourceEvent = {
  readonly position: number
  readonly stream: string
  readonly revision: number
  readonly event: EncodedEvent
}

export type CopySource = {
  readonly after: (position: number) => Promise<readonly SourceEvent[]>
  /**
   * Returns the position of the stream's event with this revision and id, or null if there is none.
   */
  readonly positionOf: (stream: string, revision: number, id: string) => Promise<number | null>
}

const PAGE = 2_000

type Row = {
  position: string
  stream: string
  revision: string
  id: string
  type: string
  v: number
  data: string
  actor: string
  cause: string | null
  at: string
}

/**
 * Creates the source of a copy, which reads the events from Postgres. `data` is read as text,
 * because decoding would lose the exact bytes.
 */
export function createCopySource(pg: Pool): CopySource {
  return {
    after: async (position) => {
      const { rows } = await pg.query<Row>(
        `select position, stream, revision, id, type, v, data, actor, cause, at
         from event_store.events where position > $1 and position <= $1 + $2 order by position`,
        [position, PAGE],
      )
      return rows.map(sourceEvent)
    },
    positionOf: async (stream, revision, id) => {
      const { rows } = await pg.query<{ position: string }>(
        'select position from event_store.events where stream = $1 and revision = $2 and id = $3',
        [stream, revision, id],
      )
      return rows[0] === undefined ? null : Number(rows[0].position)
    },
  }
}

const sourceEvent = ({ id, type, v, data, actor, cause, at, ...place }: Row): SourceEvent => ({
  position: Number(place.position),
  stream: place.stream,
  revision: Number(place.revision),
  event: { id, type, v, data, meta: { actor, cause, at: Number(at) } },
})
