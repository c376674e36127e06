import { DatabaseError, type Pool } from 'pg'
import { inTransaction } from '#infra/postgres/in-transaction.ts'
import { PROJECTION_NAMES, type ProjectionName, schemaOf } from '../projection-names.ts'
import { SCRATCH_SCHEMA } from '../scratch-copy-schemas/query.ts'

/** The work that folds events into tables beside the live read model. */
export type FoldingWork = 'rebuild' | 'verify'

const SUFFIXES: Readonly<Record<FoldingWork, string>> = { rebuild: '_next', verify: '_check' }

/** Returns the Postgres schema that a rebuild or a verification fills. */
export const foldedSchemaOf = (work: FoldingWork, name: ProjectionName): string =>
  `${schemaOf(name)}${SUFFIXES[work]}`

/** Returns the name of the lock that a rebuild or a verification holds while its schema exists. */
export const foldingLockOf = (work: FoldingWork, name: ProjectionName): string => `${work}:${name}`

/**
 * The maximum time in milliseconds that the deletion of a schema waits for running statements that
 * use the schema.
 */
const DROP_LOCK_MS = 2_000

/**
 * Drops the schemas whose rows an erasure does not change: those of verifications and scratch
 * copies. A running verification therefore starts again. Returns false if a schema is in use for
 * longer than two seconds. Also drops the schemas of rebuilds that were killed. The schemas of
 * running rebuilds stay, because a rebuild applies the erasure before its tables are used.
 */
export async function dropCopiesOfReadModels(pg: Pool): Promise<boolean> {
  const verified = new Set(PROJECTION_NAMES.map((name) => foldedSchemaOf('verify', name)))
  const { rows } = await pg.query<{ name: string }>('select nspname as name from pg_namespace')
  for (const { name } of rows) {
    if (!verified.has(name) && !SCRATCH_SCHEMA.test(name)) continue
    if (!(await dropUnlessInUse(pg, name))) return false
  }
  await dropUnfinishedReadModels(pg)
  return true
}

const LOCK_NOT_AVAILABLE = '55P03'

async function dropUnlessInUse(pg: Pool, schema: string): Promise<boolean> {
  try {
    await inTransaction(pg, async (client) => {
      await client.query(`set local lock_timeout = ${DROP_LOCK_MS}`)
      await client.query(`drop schema if exists ${schema} cascade`)
    })
    return true
  } catch (error) {
    if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false
    throw error
  }
}

const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'
const TRY_LOCK = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as is_free'

/**
 * Drops the schemas of rebuilds and verifications that were killed. These schemas contain personal
 * data that no later event removes. A schema whose lock is held belongs to running work, which
 * drops the schema at its end. Concurrent calls wait for each other. Otherwise, one call could
 * mistake the lock of another call for a lock of running work.
 */
export async function dropUnfinishedReadModels(pg: Pool): Promise<void> {
  const locks = new Map(
    PROJECTION_NAMES.flatMap((name) =>
      (['rebuild', 'verify'] as const).map((work) => [
        foldedSchemaOf(work, name),
        foldingLockOf(work, name),
      ]),
    ),
  )
  const { rows } = await pg.query<{ schema: string }>(
    'select nspname as schema from pg_namespace where nspname = any($1::text[])',
    [[...locks.keys()]],
  )
  if (rows.length === 0) return
  await inTransaction(pg, async (client) => {
    await client.query(LOCK, ['drop-unfinished-read-models'])
    for (const { schema } of rows) {
      const found = await client.query<{ is_free: boolean }>(TRY_LOCK, [locks.get(schema)])
      if (found.rows[0]?.is_free === true) {
        await client.query(`drop schema if exists ${schema} cascade`)
      }
    }
  })
}
