import {
  type AuditJob,
  type AuditJobsState,
  auditJobsDecider,
  isOpen,
  type RebuildJob,
  type VerificationJob,
} from '#domain/audit/decide.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { type JobProgress, readProgress } from '#infra/audit-program/job-progress.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { success } from '#infra/http/response-envelope.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import {
  type AuditCheck,
  type Rebuild,
  type Verification,
  verificationQueries,
} from '../contract/verifications.ts'
import type { App, ReadDeps } from '../read-route-helpers.ts'

/** `GET /api/audit/verifications` and `GET /api/audit/verifications/{id}` */
export function listVerifications(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(verificationQueries, 'GET /api/audit/verifications'),
    onRequest: onlyAuditor,
    handler: async () => {
      const { verifications } = await jobsOf(deps)
      return success({ items: await withProgress(deps, verifications, verificationAnswer) })
    },
  })
  app.route({
    ...endpoint(verificationQueries, 'GET /api/audit/verifications/:id'),
    onRequest: onlyAuditor,
    handler: async ({ params: { id } }) => {
      const { verifications } = await jobsOf(deps)
      const own = verifications.filter(({ request }) => request.id === id)
      const [answer] = await withProgress(deps, own, verificationAnswer)
      if (answer === undefined) throw httpError('NotFound')
      return success(answer)
    },
  })
}

/** `GET /api/audit/rebuilds` */
export function listRebuilds(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(verificationQueries, 'GET /api/audit/rebuilds'),
    onRequest: onlyAuditor,
    handler: async () => {
      const { rebuilds } = await jobsOf(deps)
      const items = await withProgress(deps, rebuilds, rebuildAnswer)
      return success({ items, read_models: [...PROJECTION_NAMES] })
    },
  })
}

const jobsOf = ({ core: { actors } }: ReadDeps): Promise<AuditJobsState> =>
  actors.ask(auditJobsDecider, AUDIT_JOBS_STREAM, (state) => state)

/** Returns the answers for jobs, newest first, with the progress of those that are running. */
async function withProgress<Job extends AuditJob, Answer>(
  { core }: ReadDeps,
  jobs: readonly Job[],
  answerOf: (job: Job, progress: JobProgress | null) => Answer,
): Promise<Answer[]> {
  const ids = jobs.filter(isOpen).map(({ request }) => request.id)
  const progress = await readProgress(core.pg, ids)
  return jobs.toReversed().map((job) => answerOf(job, progress.get(job.request.id) ?? null))
}

const seconds = (ms: number): number => Math.floor(ms / 1_000)

function progressAnswer(progress: JobProgress | null) {
  if (progress === null) return null
  const { secondsLeft, ...others } = progress
  return { ...others, seconds_left: secondsLeft }
}

function jobAnswer({ request, result, failure }: AuditJob, progress: JobProgress | null) {
  const ended = result ?? failure
  const running = progress === null ? ('waiting' as const) : ('running' as const)
  const status = failure === null ? (result === null ? running : 'finished') : 'failed'
  return {
    id: request.id,
    requested_by: request.requestedBy,
    status: status as Verification['status'],
    requested_at: seconds(request.requestedAt),
    finished_at: ended === null ? null : seconds(ended.finishedAt),
    progress: ended === null ? progressAnswer(progress) : null,
    error: failure === null ? '' : 'The log of the server says why the job failed',
  }
}

function verificationAnswer(job: VerificationJob, progress: JobProgress | null): Verification {
  const { result } = job
  return {
    ...jobAnswer(job, progress),
    mode: result?.mode ?? job.request.mode,
    from_position: result?.fromPosition ?? 0,
    to_position: result?.toPosition ?? 0,
    root: result?.root ?? null,
    tree_size: result?.treeSize ?? 0,
    checks: (result?.checks ?? []).map((counts) => ({
      ...counts,
      check: counts.check as AuditCheck,
    })),
    finding_count: result?.findingCount ?? 0,
    findings: (result?.findings ?? []).map((finding) => ({
      ...finding,
      check: finding.check as AuditCheck,
    })),
  }
}

function rebuildAnswer(job: RebuildJob, progress: JobProgress | null): Rebuild {
  const answer = jobAnswer(job, progress)
  const { status } = answer
  const positions = new Map(job.result?.readModels.map(({ name, position }) => [name, position]))
  return {
    ...answer,
    read_models: job.request.readModels.map((name) => ({
      ...{ name, status },
      done: positions.get(name) ?? progress?.done ?? 0,
      total: positions.get(name) ?? progress?.total ?? 0,
    })),
  }
}
