import { type AuditJobCommand, auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import {
  isActiveCopy,
  isBuildingCopy,
  isExpiredCopy,
  type ScratchCopyJob,
} from '#domain/audit/decide-scratch-copies.ts'
import { AUDIT_JOBS_STREAM, type ScratchCopyEnd } from '#domain/audit/events.ts'
import type { Core } from '../core-dependencies.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'
import { deleteProgress, type ProgressWriter, progressWriter } from './job-progress.ts'
import {
  buildScratchTables,
  dropOtherScratchTables,
  dropScratchTables,
  scratchBytes,
} from './scratch-read-models.ts'

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
 * Builds the scratch copy that was requested first and is not built yet, if there is one. An
 * interrupted build starts from the beginning.
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
 * becomes too large, or when `lost` aborts. After `lost`, the next holder of the lease can start
 * the build again.
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
    // On a full disk, the site can write again only without the tables of the copy.
    const mayContinue = core.writes.isWritable() && (await isStillBuilding(core, id))
    if (!mayContinue) stopped.abort()
  } catch (error) {
    warnThrottled(core.log, { reason: reasonOf(error) }, 'an audit job waits for the database')
  }
}
