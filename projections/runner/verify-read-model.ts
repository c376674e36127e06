import type { Pool, PoolClient } from 'pg'
import { assert } from '#domain/shared/assert.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import type { FoldContext, Projection } from '../projection.ts'
import { type ProjectionName, schemaOf } from '../projection-names.ts'
import { foldedSchemaOf, foldingLockOf } from '../unfinished-read-models/query.ts'
import { lowestOf, readCheckpoints } from './checkpoints.ts'
import { withNamedLocks } from './create-read-model-tables.ts'
import { failureReason } from './failure-reason.ts'
import { type ComparedTables, type DifferingRow, findDifferingRows } from './find-differing-rows.ts'
import { type FoldOptions, foldIntoNewTables } from './fold-into-new-tables.ts'

export type VerificationResult = {
  readonly name: ProjectionName
  /**
   * The lowest position of all lanes. Each lane was compared at its checkpoint.
   */
  readonly position: number
  readonly isEqual: boolean
  /**
   * The name, the number of rows and the hash of each live table, as one text. `expected` is the
   * corresponding text for the newly folded tables.
   */
  readonly found: string
  readonly expected: string
  /** The tables that differ, and the first of their rows that could be named. */
  readonly tables: readonly string[]
  readonly rows: readonly DifferingRow[]
  /** Why no rows could be named although the tables differ, or null. */
  readonly rowsError: string | null
}

/** Compares a read model with newly folded rows; see `verifyReadModels`. */
export async function verifyReadModel(
  core: Core,
  projection: Projection,
  context: FoldContext,
): Promise<VerificationResult> {
  const [result] = await verifyReadModels(core, [projection], context)
  assert(result !== undefined, 'one read model has one result')
  return result
}

/**
 * Compares the hash of all rows of each read model with the hash of newly folded rows. The events
 * are read once for all read models. The live read models can keep advancing, because their rows
 * and checkpoints are read in one snapshot.
 */
export const verifyReadModels = (
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
  options: FoldOptions = {},
): Promise<VerificationResult[]> =>
  withNamedLocks(
    core.pg,
    projections.map(({ name }) => foldingLockOf('verify', name)),
    () => verifyTogether(core, projections, context, options),
  )

async function verifyTogether(
  core: Core,
  projections: readonly Projection[],
  context: FoldContext,
  options: FoldOptions,
): Promise<VerificationResult[]> {
  const live = await inTransaction(core.pg, (client) => hashesOfLive(client, projections), SNAPSHOT)
  const targets = live.map(({ projection, positions }) => {
    return { projection, schema: checkSchemaOf(projection), upTo: positions }
  })
  try {
    await foldIntoNewTables(core, context, targets, { ...options, withIndexes: false })
    const results: VerificationResult[] = []
    for (const { projection, positions, found } of live) {
      const expected = await inTransaction(core.pg, (client) =>
        canonicalHash(client, checkSchemaOf(projection), tablesOf(projection)),
      )
      const tables = differingTables(found, expected)
      const compared = { projection, schema: checkSchemaOf(projection), positions }
      results.push({
        ...{ name: projection.name, position: lowestOf(positions), isEqual: found === expected },
        ...{ found, expected, tables, ...(await nameRows(core, compared, tables)) },
      })
    }
    return results
  } finally {
    for (const { schema } of targets) await core.pg.query(`drop schema if exists ${schema} cascade`)
  }
}

/**
 * Names the rows that differ. An error is returned instead of thrown, because a table whose columns
 * were changed cannot be compared row by row, and the result that it differs must not be lost.
 */
async function nameRows(
  { log, pg }: Core,
  compared: ComparedTables,
  tables: readonly string[],
): Promise<Pick<VerificationResult, 'rows' | 'rowsError'>> {
  if (tables.length === 0) return { rows: [], rowsError: null }
  try {
    const find = (client: PoolClient) => findDifferingRows(client, compared, tables)
    return { rows: await inTransaction(pg, find, SNAPSHOT), rowsError: null }
  } catch (error) {
    const { name } = compared.projection
    log.warn({ err: error, readModel: name }, 'the rows of a read model could not be compared')
    return { rows: [], rowsError: failureReason(error) }
  }
}

const SNAPSHOT = { begin: 'begin isolation level repeatable read read only' }

/** Returns the tables whose hash differs. Both texts list `table:rows:hash`. */
function differingTables(found: string, expected: string): string[] {
  const others = new Set(expected.split(' '))
  return found
    .split(' ')
    .filter((table) => !others.has(table))
    .map((table) => table.split(':')[0] ?? '')
}

const checkSchemaOf = ({ name }: Projection): string => foldedSchemaOf('verify', name)
const tablesOf = ({ tables }: Projection): string[] => Object.keys(tables)

async function hashesOfLive(client: PoolClient, projections: readonly Projection[]) {
  const checkpoints = await readCheckpoints(client)
  const live = []
  for (const projection of projections) {
    const positions = checkpoints.get(projection.name)?.positions ?? ALL_LANES.map(() => 0)
    const found = await canonicalHash(client, schemaOf(projection.name), tablesOf(projection))
    live.push({ projection, positions, found })
  }
  return live
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
