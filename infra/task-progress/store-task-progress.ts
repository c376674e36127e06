import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'

/**
 * The progress of one task. `text` is what the provider last reported and the console shows, such
 * as `40%`.
 */
export type ProgressRow = { readonly id: string; readonly text: string }

/**
 * The changed progress of a task. `mark` is a number that increases with every change. Pass the
 * highest received mark to `changedAfter`.
 */
export type ChangedProgress = ProgressRow & { readonly mark: number }

/**
 * Stores the last known progress of running tasks for all processes. The progress is not an event
 * and can't be rebuilt, so no decision depends on it.
 */
export type TaskProgress = {
  /** Stores the progress of tasks. Only a text that differs from the stored one gets a new mark. */
  readonly put: (rows: readonly ProgressRow[]) => Promise<void>
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>
  /** Returns the changes after `mark` in the order in which they were made. */
  readonly changedAfter: (mark: number, limit: number) => Promise<readonly ChangedProgress[]>
  /** Returns the mark of the last change, or 0 if there are no changes. */
  readonly mark: () => Promise<number>
  readonly remove: (ids: readonly string[]) => Promise<void>
  /** Deletes rows that were last written more than 3 hours ago. */
  readonly sweep: () => Promise<void>
}

const DDL = `
  create sequence if not exists progress.marks;
  create unlogged table if not exists progress.rows (
    id text primary key,
    text text not null,
    mark bigint not null,
    at timestamptz not null
  );
  create index if not exists rows_by_mark on progress.rows (mark)`

const PUT = `
  insert into progress.rows as known (id, text, mark, at)
  select id, text, nextval('progress.marks'), clock_timestamp()
  from unnest($1::text[], $2::text[]) as given (id, text) order by id
  on conflict (id) do update set text = excluded.text, mark = excluded.mark, at = excluded.at
  where known.text <> excluded.text`

type Row = { readonly id: string; readonly text: string; readonly mark: string }

export async function createTaskProgress(pg: Pool): Promise<TaskProgress> {
  await ensureSchema(pg, 'progress', DDL)
  return {
    put: async (rows) => {
      if (rows.length === 0) return
      const values = [rows.map(({ id }) => id), rows.map(({ text }) => text)]
      await pg.query({ name: 'progress-put', text: PUT, values })
    },
    read: async (ids) => {
      if (ids.length === 0) return new Map()
      const text = 'select id, text from progress.rows where id = any($1::text[])'
      const { rows } = await pg.query<Row>({ name: 'progress-read', text, values: [ids] })
      return new Map(rows.map((row) => [row.id, row.text]))
    },
    changedAfter: async (mark, limit) => {
      const text = 'select id, text, mark from progress.rows where mark > $1 order by mark limit $2'
      const { rows } = await pg.query<Row>({ name: 'progress-on', text, values: [mark, limit] })
      return rows.map((row) => ({ id: row.id, text: row.text, mark: Number(row.mark) }))
    },
    mark: async () => {
      const text = 'select coalesce(max(mark), 0) as mark from progress.rows'
      const { rows } = await pg.query<Pick<Row, 'mark'>>({ name: 'progress-mark', text })
      return Number(rows[0]?.mark ?? 0)
    },
    remove: async (ids) => {
      if (ids.length === 0) return
      const text = 'delete from progress.rows where id = any($1::text[])'
      await pg.query({ name: 'progress-remove', text, values: [ids] })
    },
    sweep: async () => {
      await pg.query("delete from progress.rows where at < clock_timestamp() - interval '3 hours'")
    },
  }
}
