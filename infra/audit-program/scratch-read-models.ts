import type { Pool } from 'pg'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { type FoldOptions, foldIntoNewTables } from '#projections/runner/fold-into-new-tables.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import {
  SCRATCH_READ_MODELS,
  SCRATCH_SCHEMA,
  scratchPrefixOf,
  scratchSchemaOf,
} from '#projections/scratch-copies/query.ts'
import type { Core } from '../core-dependencies.ts'
import { ALL_LANES } from '../event-bus/lane-of-stream.ts'

/**
 * Folds the events up to a position into the tables of a copy. Tables of an earlier, interrupted
 * build are dropped first. The data keys of users are also loaded again, because this process may
 * have cached the key of a user whom another process has erased.
 */
export async function buildScratchTables(
  core: Core,
  copy: { readonly id: string; readonly position: number },
  options: FoldOptions,
): Promise<void> {
  core.vault.forgetDataKeys()
  const upTo = ALL_LANES.map(() => copy.position)
  const targets = PROJECTIONS.filter(({ name }) => SCRATCH_READ_MODELS.includes(name)).map(
    (projection) => ({ projection, schema: scratchSchemaOf(copy.id, projection.name), upTo }),
  )
  await foldIntoNewTables(core, foldContext(core), targets, options)
}

/** Returns the size of a copy's tables and indexes in bytes. */
export async function scratchBytes(pg: Pool, copyId: string): Promise<number> {
  const { rows } = await pg.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where starts_with(n.nspname, $1) and c.relkind in ('r', 'm')`,
    [scratchPrefixOf(copyId)],
  )
  return Number(rows[0]?.bytes ?? 0)
}

/** Drops the tables of one copy. */
export async function dropScratchTables(pg: Pool, copyId: string): Promise<void> {
  for (const { name } of PROJECTIONS) await dropSchema(pg, scratchSchemaOf(copyId, name))
}

/** Drops the tables of all copies but those with these ids. */
export async function dropOtherScratchTables(pg: Pool, ids: readonly string[]): Promise<void> {
  const kept = ids.map((id) => scratchPrefixOf(id))
  const { rows } = await pg.query<{ name: string }>(
    `select nspname as name from pg_namespace where starts_with(nspname, 'scratch_')`,
  )
  for (const { name } of rows) {
    const isKept = kept.some((prefix) => name.startsWith(prefix))
    // A schema of another form was not made by a copy.
    if (isKept || !SCRATCH_SCHEMA.test(name)) continue
    await dropSchema(pg, name)
  }
}

async function dropSchema(pg: Pool, name: string): Promise<void> {
  await pg.query({ text: `drop schema if exists ${name} cascade`, ...UNLIMITED })
}

/** Dropping a schema waits for the statements that read it. */
const UNLIMITED = { query_timeout: 0 }
