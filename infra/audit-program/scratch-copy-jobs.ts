import type { Pool } from 'pg'
import { type AuditJobCommand, auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import {
  isActiveCopy,
  isBuildingCopy,
  isExpiredCopy,
  type ScratchCopyJob,
} from '#domain/audit/decide-scratch-copies.ts'
import { AUDIT_JOBS_STREAM, type ScratchCopyEnd } from '#domain/audit/events.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { type FoldOptions, foldIntoNewTables } from '#projections/runner/fold-into-new-tables.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import {
  SCRATCH_READ_MODELS,
  SCRATCH_SCHEMA,
  scratchPrefixOf,
  scratchSchemaOf,
} from '#projections/scratch-copy-schemas/query.ts'
import type { Core } from '../core-dependencies.ts'
import { ALL_LANES } from '../event-bus/lane-of-stream.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'
import { deleteProgress, type ProgressWriter, progressWriter } from './job-progress.ts'

/** The maximum size of one scratch copy in bytes. */
const BYTES_MAX = 20 * 1024 ** 3
const CHECK_EVERY_MS = 1_000

export const scratchCopiesOf = async ({ actors }: Core): Promise<readonly ScratchCopyJob[]> =>
  (await actors.stateOf(auditJobsDecider, AUDIT_JOBS_STREAM)).scratchCopies

async function append({ actors, now }: Core, id: string, command: AuditJobCommand): Promise<void> {
  const context = { actor: 'system:audit', cause: id, at: now() }
  await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
}

const end = (core: Core, id: string, reason: ScratchCopyEnd): Promise<void> =>
  append(core, id, { type: 'EndScratchCopies', ids: [id], reason, endedAt: core.now() })

/**
 * Ends the scratch copies that have expired, and drops the tables of all copies that have ended.
 * Returns the number of copies that still exist.
 */
export async function cleanScratchCopies(core: Core): Promise<number> {
  const copies = await scratchCopiesOf(core)
  for (const copy of copies) {
    if (isExpiredCopy(copy, core.now())) await end(core, copy.request.id, 'expired')
  }
  const kept = (await scratchCopiesOf(core)).filter(isActiveCopy).map(({ request }) => request.id)
  await dropOtherScratchTables(core.pg, kept)
  return kept.length
}

/**
 * Builds the scratch copy that was requested first among those that are not built yet. Does nothing
 * if there is none. An interrupted build starts from the beginning.
 */
export async function buildNextScratchCopy(core: Core, lost: AbortSignal): Promise<void> {
  const next = (await scratchCopiesOf(core)).find(isBuildingCopy)
  if (next === undefined) return
  const { id } = next.request
  await buildScratchCopy(core, next, lost, progressWriter(core.pg, id))
  if (!lost.aborted) await deleteProgress(core.pg, id)
}

/**
 * Builds a scratch copy and records the result. The build stops when the copy is ended, when it
 * becomes too large, when the site cannot write events, or when `lost` aborts. After `lost` has
 * aborted, the next holder of the lease can start the build again.
 */
export async function buildScratchCopy(
  core: Core,
  { request: { id, position } }: ScratchCopyJob,
  lost: AbortSignal,
  onProgress: ProgressWriter,
): Promise<void> {
  const stopped = new AbortController()
  const watch = setInterval(() => void stopIfEnded(core, id, stopped), CHECK_EVERY_MS)
  const signal = AbortSignal.any([lost, stopped.signal])
  try {
    await buildScratchTables(
      core,
      { id, position },
      { signal, onProgress: (done, total) => onProgress('events', done, total) },
    )
    signal.throwIfAborted()
    const bytes = await scratchBytes(core.pg, id)
    await append(core, id, { type: 'FinishScratchCopy', id, bytes, finishedAt: core.now() })
  } catch (error) {
    if (lost.aborted || !(await isStillBuilding(core, id))) return
    core.log.error({ alarm: 'audit-job-failed', id, err: error }, 'an audit job failed')
    // On a full disk, the failure can only be recorded once the tables are gone.
    await dropScratchTables(core.pg, id)
    await append(core, id, { type: 'FailAuditJob', id, finishedAt: core.now() })
  } finally {
    clearInterval(watch)
  }
}

/** Reports whether a scratch copy was requested and is neither built nor ended. */
export const isStillBuilding = async (core: Core, id: string): Promise<boolean> =>
  (await scratchCopiesOf(core)).some((copy) => copy.request.id === id && isBuildingCopy(copy))

async function stopIfEnded(core: Core, id: string, stopped: AbortController): Promise<void> {
  try {
    if ((await scratchBytes(core.pg, id)) > BYTES_MAX) await end(core, id, 'too-large')
    // The site is not writable if the disk is full. The site can only write again after the tables
    // of the copy are dropped.
    const mayContinue = core.writes.isWritable() && (await isStillBuilding(core, id))
    if (!mayContinue) stopped.abort()
  } catch (error) {
    warnThrottled(core.log, { reason: reasonOf(error) }, 'an audit job waits for the database')
  }
}

/**
 * Creates the tables of a scratch copy and applies the events up to its position. Tables of an
 * interrupted build are dropped first.
 */
async function buildScratchTables(
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
async function scratchBytes(pg: Pool, copyId: string): Promise<number> {
  const { rows } = await pg.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where starts_with(n.nspname, $1) and c.relkind in ('r', 'm')`,
    [scratchPrefixOf(copyId)],
  )
  return Number(rows[0]?.bytes ?? 0)
}

async function dropScratchTables(pg: Pool, copyId: string): Promise<void> {
  for (const { name } of PROJECTIONS) await dropSchema(pg, scratchSchemaOf(copyId, name))
}

/** Drops the tables of all scratch copies except those with these ids. */
async function dropOtherScratchTables(pg: Pool, ids: readonly string[]): Promise<void> {
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

/**
 * Query options without a timeout: dropping a schema waits for the statements that read from the
 * schema.
 */
const UNLIMITED = { query_timeout: 0 }
