import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'
import { createSealedValues, type ShortLived } from './short-lived-values.ts'

const TABLES = `
  create table if not exists auth.short_lived (
    name text primary key,
    value bytea not null,
    until int8 not null,
    tries int4 not null default 0
  );
  create index if not exists short_lived_until on auth.short_lived (until);
`

const SWEEP_EVERY_MS = 60_000

type Row = { readonly value: Buffer; readonly until: string }

/**
 * Creates a store in Postgres, for sites without Redis. All processes share the values, which
 * survive restarts. `now` is in Unix milliseconds.
 */
export async function createPostgresShortLived(
  pg: Pool,
  secretKey: Uint8Array,
  now: () => number,
): Promise<ShortLived> {
  await ensureSchema(pg, 'auth', TABLES)
  const { nameOf, seal, open } = createSealedValues(secretKey)
  const sweep = createSweep(pg, now)
  const liveValue = (name: string, row: Row | undefined): string | null =>
    row === undefined || Number(row.until) <= now() ? null : open(name, row.value)
  return {
    put: async (kind, key, value, ttlMs) => {
      await sweep()
      const name = nameOf(kind, key)
      await pg.query(
        `insert into auth.short_lived (name, value, until) values ($1, $2, $3)
         on conflict (name)
           do update set value = excluded.value, until = excluded.until, tries = 0`,
        [name, seal(name, value), Math.ceil(now() + ttlMs)],
      )
    },
    take: async (kind, key) => {
      const name = nameOf(kind, key)
      const { rows } = await pg.query<Row>(
        'delete from auth.short_lived where name = $1 returning value, until',
        [name],
      )
      return liveValue(name, rows[0])
    },
    peek: async (kind, key) => {
      const name = nameOf(kind, key)
      const { rows } = await pg.query<Row>(
        'select value, until from auth.short_lived where name = $1',
        [name],
      )
      return liveValue(name, rows[0])
    },
    countTry: async (kind, key, max) => {
      const name = nameOf(kind, key)
      const { rows } = await pg.query<{ tries: number }>(
        `update auth.short_lived set tries = tries + 1 where name = $1 and until > $2
         returning tries`,
        [name, Math.ceil(now())],
      )
      const tries = rows[0]?.tries
      if (tries === undefined) return null
      if (tries <= max) return max - tries
      // The condition on `tries` keeps a value that was stored in the meantime, because its tries
      // are 0.
      await pg.query('delete from auth.short_lived where name = $1 and tries > $2', [name, max])
      return null
    },
  }
}

/** Returns a function that deletes expired values, at most once a minute. */
function createSweep(pg: Pool, now: () => number): () => Promise<void> {
  let sweptAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (now() - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now()
    await pg.query('delete from auth.short_lived where until <= $1', [Math.floor(now())])
  }
}
