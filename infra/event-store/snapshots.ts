import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'

/** The state of a stream after the event at `revision`, which has the global `position`. */
export type Snapshot = {
  readonly version: number
  readonly revision: number
  readonly position: number
  readonly state: unknown
}

/** The store of snapshots. Snapshots only make streams load faster, so they may be lost. */
export type Snapshots = {
  readonly load: (stream: string) => Promise<Snapshot | null>
  /** Saves a snapshot, unless the stored snapshot has a later revision. */
  readonly save: (stream: string, snapshot: Snapshot) => Promise<void>
}

export function createMemorySnapshots(): Snapshots {
  const kept = new Map<string, string>()
  const read = (stream: string): Snapshot | null => {
    const text = kept.get(stream)
    return text === undefined ? null : JSON.parse(text)
  }
  return {
    load: async (stream) => read(stream),
    save: async (stream, snapshot) => {
      if ((read(stream)?.revision ?? -1) < snapshot.revision) {
        kept.set(stream, JSON.stringify(snapshot))
      }
    },
  }
}

const DDL = `
  create table if not exists snapshots.states (
    stream text collate "C" primary key,
    version int not null,
    revision int8 not null,
    position int8 not null,
    state text not null
  )`

type Row = { version: number; revision: string; position: string; state: string }

/**
 * Creates the store of snapshots in Postgres. A snapshot of a newer codec version replaces the
 * stored snapshot.
 */
export async function createPostgresSnapshots(pg: Pool): Promise<Snapshots> {
  await ensureSchema(pg, 'snapshots', DDL)
  return {
    load: async (stream) => {
      const { rows } = await pg.query<Row>({
        name: 'snapshot-load',
        text: 'select version, revision, position, state from snapshots.states where stream = $1',
        values: [stream],
      })
      const row = rows[0]
      if (row === undefined) return null
      return {
        version: row.version,
        revision: Number(row.revision),
        position: Number(row.position),
        state: JSON.parse(row.state),
      }
    },
    save: async (stream, { version, revision, position, state }) => {
      await pg.query({
        name: 'snapshot-save',
        text: `
          insert into snapshots.states as kept (stream, version, revision, position, state)
          values ($1, $2, $3, $4, $5)
          on conflict (stream) do update set version = excluded.version,
            revision = excluded.revision, position = excluded.position, state = excluded.state
          where (kept.version, kept.revision) < (excluded.version, excluded.revision)`,
        values: [stream, version, revision, position, JSON.stringify(state)],
      })
    },
  }
}
