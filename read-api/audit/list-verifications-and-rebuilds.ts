import {
  type AuditJob,
  type AuditJobsState,
  auditJobsDecider,
  isOpen,
  type RebuildJob,
  type VerificationJob,
} from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { detailIn, type Finding } from '#domain/audit/findings.ts'
import { splitFindingText } from '#domain/audit/split-finding-text.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { type JobProgress, readProgress } from '#infra/audit-program/job-progress.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { type Language, languageOf } from '#infra/http/request-language.ts'
import { success } from '#infra/http/response-envelope.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import { usernamesByIds } from '#projections/users/query.ts'
import {
  type AuditCheck,
  type AuditFinding,
  type Rebuild,
  type Verification,
  verificationQueries,
} from '../contract/verifications.ts'
import type { App, ReadDeps } from '../read-dependencies-and-query-parameters.ts'

/**
 * `GET /api/audit/verifications`: the latest verifications of the recorded events, newest first.
 * `GET /api/audit/verifications/{id}`: one verification.
 */
export function listVerifications(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(verificationQueries, 'GET /api/audit/verifications'),
    onRequest: onlyAuditor,
    handler: async (request) => {
      const { verifications } = await jobsOf(deps)
      const language = languageOf(request)
      const items = await jobResponses(deps, verifications, language, verificationResponse)
      return success({ items })
    },
  })
  app.route({
    ...endpoint(verificationQueries, 'GET /api/audit/verifications/:id'),
    onRequest: onlyAuditor,
    handler: async (request) => {
      const { verifications } = await jobsOf(deps)
      const { id } = request.params
      const own = verifications.filter((job) => job.request.id === id)
      const [response] = await jobResponses(deps, own, languageOf(request), verificationResponse)
      if (response === undefined) throw httpError('NotFound')
      return success(response)
    },
  })
}

/** `GET /api/audit/rebuilds`: the latest rebuilds of read models, newest first. */
export function listRebuilds(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(verificationQueries, 'GET /api/audit/rebuilds'),
    onRequest: onlyAuditor,
    handler: async (request) => {
      const { rebuilds } = await jobsOf(deps)
      const items = await jobResponses(deps, rebuilds, languageOf(request), rebuildResponse)
      return success({ items, read_models: [...PROJECTION_NAMES] })
    },
  })
}

const jobsOf = ({ core: { actors } }: ReadDeps): Promise<AuditJobsState> =>
  actors.ask(auditJobsDecider, AUDIT_JOBS_STREAM, (state) => state)

/**
 * Converts jobs to the items of a response, newest first. The items of running jobs contain the
 * progress.
 */
async function jobResponses<Job extends AuditJob, Item>(
  { core }: ReadDeps,
  jobs: readonly Job[],
  language: Language,
  responseOf: (job: Job, at: JobContext) => Item,
): Promise<Item[]> {
  const ids = jobs.filter(isOpen).map(({ request }) => request.id)
  const progress = await readProgress(core.pg, ids)
  const requesters = jobs.flatMap(({ request }) => request.requestedBy ?? [])
  const names = await usernamesByIds(core.db, requesters)
  return jobs.toReversed().map((job) => {
    const { id, requestedBy } = job.request
    const requester = (requestedBy !== null && names.get(requestedBy)) || ''
    return responseOf(job, { progress: progress.get(id) ?? null, requester, language })
  })
}

type JobContext = {
  /** The progress of the job while the job is running, or null. */
  readonly progress: JobProgress | null
  /** The name of the user who requested the job, or an empty text. */
  readonly requester: string
  readonly language: Language
}

const seconds = (ms: number): number => Math.floor(ms / 1_000)

function progressResponse(progress: JobProgress | null) {
  if (progress === null) return null
  const { secondsLeft, ...others } = progress
  return { ...others, seconds_left: secondsLeft }
}

const FAILED: TranslatedText = {
  zh: '失败原因见服务器日志',
  en: 'The log of the server says why the job failed',
}

function jobResponse(
  { request, result, failure }: AuditJob,
  { progress, requester, language }: JobContext,
) {
  const ended = result ?? failure
  const running = progress === null ? ('waiting' as const) : ('running' as const)
  const status = failure === null ? (result === null ? running : 'finished') : 'failed'
  return {
    id: request.id,
    ...{ requested_by: request.requestedBy, requested_by_name: requester },
    status: status as Verification['status'],
    requested_at: seconds(request.requestedAt),
    finished_at: ended === null ? null : seconds(ended.finishedAt),
    progress: ended === null ? progressResponse(progress) : null,
    error: failure === null ? '' : FAILED[language],
  }
}

function verificationResponse(job: VerificationJob, at: JobContext): Verification {
  const { result } = job
  return {
    ...jobResponse(job, at),
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
    findings: (result?.findings ?? []).map((finding) => findingResponse(finding, at.language)),
  }
}

function findingResponse(finding: Finding, language: Language): AuditFinding {
  const { check, position, stream, revision } = finding
  return {
    ...{ check: check as AuditCheck, position, stream, revision },
    ...{ detail: detailIn(language, finding), parts: splitFindingText(language, finding) },
    is_acknowledged: finding.isAcknowledged === true,
  }
}

function rebuildResponse(job: RebuildJob, at: JobContext): Rebuild {
  const { progress } = at
  const response = jobResponse(job, at)
  const { status } = response
  const positions = new Map(job.result?.readModels.map(({ name, position }) => [name, position]))
  return {
    ...response,
    read_models: job.request.readModels.map((name) => ({
      ...{ name, status },
      done: positions.get(name) ?? progress?.done ?? 0,
      total: positions.get(name) ?? progress?.total ?? 0,
    })),
  }
}
