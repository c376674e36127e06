import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'

/**
 * Stores the position up to which a named reader has read all events. The stored position never
 * decreases.
 */
export type ReaderCheckpoint = {
  /** Returns the saved position, or null before the first `save`. */
  readonly read: () => Promise<number | null>
  readonly save: (position: number) => Promise<void>
}

const DDL = `
  create table if not exists bookmarks.bookmarks (
    name text primary key,
    position int8 not null
  )`

export async function openCheckpoint(pg: Pool, name: string): Promise<ReaderCheckpoint> {
  await ensureSchema(pg, 'bookmarks', DDL)
  return {
    read: async () => {
      const { rows } = await pg.query<{ position: string }>(
        'select position from bookmarks.bookmarks where name = $1',
        [name],
      )
      return rows[0] === undefined ? null : Number(rows[0].position)
    },
    save: async (position) => {
      await pg.query({
        name: 'save-reader-checkpoint',
        text: `insert into bookmarks.bookmarks as kept (name, position) values ($1, $2)
               on conflict (name) do update
               set position = greatest(kept.position, excluded.position)`,
        values: [name, position],
      })
    },
  }
}
