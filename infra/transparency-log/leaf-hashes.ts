import type { Pool, PoolClient } from 'pg'
import { leafHash } from '../audit-program/stored-record.ts'
import { storeRecords } from '../audit-program/stored-record-reader.ts'
import type { Core } from '../core-dependencies.ts'
import { LEAF_HASH } from './log-tables.ts'

/** The leaf hashes of consecutive events, and the positions of these events. */
export type Leaves = { readonly positions: readonly number[]; readonly hashes: readonly Buffer[] }

/**
 * Reads the leaf hashes of at most `limit` events after a position, in the order of the store. If
 * `client` is given, reads on this connection and within its transaction.
 */
export type ReadLeaves = (after: number, limit: number, client?: PoolClient) => Promise<Leaves>

export const HASH_BYTES = 32

/**
 * Returns the `ReadLeaves` function for the site's event store. If the events are in Postgres,
 * Postgres computes the hashes. Events of another store are read and hashed in this process.
 */
export function leafReader({
  config,
  pg,
  store,
}: Pick<Core, 'config' | 'pg' | 'store'>): ReadLeaves {
  if (config.eventStore.url === null)
    return (after, limit, client = undefined) => readFromPostgres(client ?? pg, after, limit)
  const { read } = storeRecords(store)
  return async (after, limit) => {
    const records = await read(after, limit)
    return { positions: records.map(({ position }) => position), hashes: records.map(leafHash) }
  }
}

type Row = { readonly positions: readonly string[] | null; readonly hashes: Buffer | null }

async function readFromPostgres(
  pg: Pool | PoolClient,
  after: number,
  limit: number,
): Promise<Leaves> {
  const { rows } = await pg.query<Row>(
    `select array_agg(e.position order by e.position) positions,
        string_agg(${LEAF_HASH}, ''::bytea order by e.position) hashes
      from (select * from event_store.events where position > $1 order by position limit $2) e`,
    [after, limit],
  )
  const { positions, hashes } = rows[0] ?? { positions: null, hashes: null }
  return {
    positions: (positions ?? []).map(Number),
    hashes: splitHashes(hashes ?? Buffer.alloc(0)),
  }
}

export function splitHashes(bytes: Buffer): Buffer[] {
  const hashes: Buffer[] = []
  for (let i = 0; i < bytes.length; i += HASH_BYTES) hashes.push(bytes.subarray(i, i + HASH_BYTES))
  return hashes
}
