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
 * Creates the tables of a scratch copy and applies the events up to its position. Tables of an
 * interrupted build are dropped first.
 */
export async function buildScratchTables(
  core: Core,
  copy: { readonly id: string; readonly position: number },
  options: FoldOptions,
): Promise<void> {
  const upTo = ALL_LANES.map(() => copy.position)
  const targets = PROJECTIONS.filter(({ name }) => SCRATCH_READ_MODELS.includes(name)).map(
    (projection) => ({ projection, schema: scratchSchemaOf(copy.id, projection.name), upTo }),
  )
  await foldIntoNewTables(core, foldContext(core), targets, options)
}

/** Returns the size of a scratch copy's tables and indexes in bytes. */
export async function scratchBytes(pg: Pool, copyId: string): Promise<number> {
  const { rows } = await pg.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where starts_with(n.nspname, $1) and c.relkind in ('r', 'm')`,
    [scratchPrefixOf(copyId)],
  )
  return Number(rows[0]?.bytes ?? 0)
}

/** Drops the tables of one scratch copy. */
export async function dropScratchTables(pg: Pool, copyId: string): Promise<void> {
  for (const { name } of PROJECTIONS) await dropSchema(pg, scratchSchemaOf(copyId, name))
}

/** Drops the tables of all scratch copies except those with these ids. */
export async function dropOtherScratchTables(pg: Pool, ids: readonly string[]): Promise<void> {
  const kept = ids.map((id) => scratchPrefixOf(id))
  const { rows } = await pg.query<{ name: string }>(
    `select nspname as name from pg_namespace where starts_with(nspname, 'scratch_')`,
  )
  for (const { name } of rows) {
    const isKept = kept.some((prefix) => name.startsWith(prefix))
    // A schema whose name has another form is not from a scratch copy.
    if (isKept || !SCRATCH_SCHEMA.test(name)) continue
    await dropSchema(pg, name)
  }
}

async function dropSchema(pg: Pool, name: string): Promise<void> {
  await pg.query({ text: `drop schema if exists ${name} cascade`, ...UNLIMITED })
}

/** Query options without a timeout: dropping a schema waits for the statements that read it. */
const UNLIMITED = { query_timeout: 0 }
