import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import {
  isBuildingCopy,
  SCRATCH_COPIES_MAX,
  SCRATCH_COPY_KEPT_MS,
  type ScratchCopyJob,
} from '#domain/audit/decide-scratch-copies.ts'
import { AUDIT_JOBS_STREAM, type ScratchCopyEnd } from '#domain/audit/events.ts'
import { type JobProgress, readProgress } from '#infra/audit-program/job-progress.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  type ScratchCopy,
  type ScratchCopyStatus,
  scratchCopyQueries,
} from '../contract/scratch-copies.ts'
import type { App, ReadDeps } from '../read-dependencies-and-query-parameters.ts'

/**
 * `GET /api/audit/scratch-copies`: the scratch copies (read models as of earlier positions), newest
 * first.
 */
export function listScratchCopies(app: App, { core }: ReadDeps): void {
  app.route({
    ...endpoint(scratchCopyQueries, 'GET /api/audit/scratch-copies'),
    onRequest: onlyAuditor,
    handler: async () => {
      const copies = await core.actors.ask(
        auditJobsDecider,
        AUDIT_JOBS_STREAM,
        ({ scratchCopies }) => scratchCopies,
      )
      const building = copies.filter(isBuildingCopy).map(({ request }) => request.id)
      const progress = await readProgress(core.pg, building)
      return success({
        items: copies
          .toReversed()
          .map((copy) => copyResponse(copy, progress.get(copy.request.id) ?? null)),
        max: SCRATCH_COPIES_MAX,
        kept_hours: SCRATCH_COPY_KEPT_MS / 3_600_000,
        head: await core.store.headPosition(),
      })
    },
  })
}

const seconds = (ms: number): number => Math.floor(ms / 1_000)

function copyResponse(copy: ScratchCopyJob, progress: JobProgress | null): ScratchCopy {
  const { request, result, failure, end } = copy
  const finished = result ?? failure
  return {
    id: request.id,
    requested_by: request.requestedBy,
    status: statusOf(copy, progress),
    position: request.position,
    as_of: seconds(request.asOf),
    requested_at: seconds(request.requestedAt),
    finished_at: finished === null ? null : seconds(finished.finishedAt),
    expires_at: seconds(request.requestedAt + SCRATCH_COPY_KEPT_MS),
    bytes: end === null ? (result?.bytes ?? null) : null,
    progress: progress === null ? null : progressResponse(progress),
  }
}

function progressResponse({ secondsLeft, ...progress }: JobProgress) {
  return { ...progress, seconds_left: secondsLeft }
}

const ENDS: Readonly<Record<ScratchCopyEnd, ScratchCopyStatus>> = {
  deleted: 'deleted',
  expired: 'expired',
  'too-large': 'too_large',
  erasure: 'erased',
}

function statusOf(
  { result, failure, end }: ScratchCopyJob,
  progress: JobProgress | null,
): ScratchCopyStatus {
  if (end !== null) return ENDS[end.reason]
  if (failure !== null) return 'failed'
  if (result !== null) return 'ready'
  return progress === null ? 'waiting' : 'building'
}
