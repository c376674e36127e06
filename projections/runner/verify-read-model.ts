import type { Pool, PoolClient } from 'pg'
import type { Core } from '#infra/core-dependencies.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { type ProjectionName, schemaOf } from '../projection-names.ts'
import { lowestOf, readCheckpoints } from './checkpoints.ts'
import { inTransaction, withNamedLock } from './create-read-model-tables.ts'
import { foldIntoNewTables } from './fold-into-new-tables.ts'

export type VerificationResult = {
  readonly name: ProjectionName
  /**
   * The lowest position of all lanes. Each lane was compared at its checkpoint.
   */
  readonly position: number
  readonly isEqual: boolean
  /**
   * The name, number of rows and hash of each live table. `expected` has those of the new tables.
   */
  readonly found: string
  readonly expected: string
}

/**
 * Compares the hash of all rows with the hash of newly folded rows. The live read model can keep
 * advancing, because its rows and checkpoints are read in one snapshot.
 */
export const verifyReadModel = (
  core: Core,
  projection: Projection,
  context: FoldContext,
): Promise<VerificationResult> =>
  withNamedLock(core.pg, `verify:${projection.name}`, () => verifyAlone(core, projection, context))

async function verifyAlone(
  core: Core,
  projection: Projection,
  context: FoldContext,
): Promise<VerificationResult> {
  const live = schemaOf(projection.name)
  const fresh = `${live}_check`
  const tables = Object.keys(projection.tables)
  const { positions, found } = await inTransaction(
    core.pg,
    async (client) => {
      const checkpoint = (await readCheckpoints(client)).get(projection.name)
      return {
        positions: checkpoint?.positions ?? ALL_LANES.map(() => 0),
        found: await canonicalHash(client, live, tables),
      }
    },
    { begin: 'begin isolation level repeatable read read only' },
  )
  try {
    await foldIntoNewTables(core, projection, context, fresh, positions)
    const expected = await inTransaction(core.pg, (client) => canonicalHash(client, fresh, tables))
    const position = lowestOf(positions)
    return { name: projection.name, position, isEqual: found === expected, found, expected }
  } finally {
    await core.pg.query(`drop schema if exists ${fresh} cascade`)
  }
}

/**
 * Hashes all rows of a read model, independent of their order. Each row is hashed with SHA-256. The
 * hashes of the rows are sorted and hashed in buckets, and the hashes of the buckets are hashed
 * together.
 */
async function canonicalHash(
  client: Pool | PoolClient,
  schema: string,
  tables: readonly string[],
): Promise<string> {
  const hashes: string[] = []
  for (const table of [...tables].sort()) {
    const { rows } = await client.query<{ hash: string | null; count: string }>(`
      select ${sha("string_agg(b.hash, '' order by b.bucket)")} as hash,
             coalesce(sum(b.count), 0) as count
      from (
        select left(r.hash, 3) as bucket, ${sha("string_agg(r.hash, '' order by r.hash)")} as hash,
               count(*) as count
        from (select ${sha('t::text')} as hash from ${schema}.${table} t) r
        group by 1
      ) b`)
    const [row] = rows
    hashes.push(`${table}:${row?.count}:${row?.hash ?? ''}`)
  }
  return hashes.join(' ')
}

const sha = (text: string): string => `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`
