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
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import { type JobProgress, readProgress } from '#infra/audit-program/job-progress.ts'
import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { type Language, languageOf } from '#infra/http/request-language.ts'
import { success } from '#infra/http/response-envelope.ts'
import { PROJECTION_NAMES } from '#projections/projection-names.ts'
import {
  type AuditCheck,
  type AuditFinding,
  type Rebuild,
  type Verification,
  verificationQueries,
} from '../contract/verifications.ts'
import type { App, ReadDeps } from '../read-route-helpers.ts'

/**
 * `GET /api/audit/verifications`: the latest verifications of the recorded events, newest first.
 * `GET /api/audit/verifications/{id}`: one of them.
 */
export function listVerifications(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(verificationQueries, 'GET /api/audit/verifications'),
    onRequest: onlyAuditor,
    handler: async (request) => {
      const { verifications } = await jobsOf(deps)
      const language = languageOf(request)
      const items = await jobAnswers(deps, verifications, language, verificationAnswer)
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
      const [answer] = await jobAnswers(deps, own, languageOf(request), verificationAnswer)
      if (answer === undefined) throw httpError('NotFound')
      return success(answer)
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
      const items = await jobAnswers(deps, rebuilds, languageOf(request), rebuildAnswer)
      return success({ items, read_models: [...PROJECTION_NAMES] })
    },
  })
}

const jobsOf = ({ core: { actors } }: ReadDeps): Promise<AuditJobsState> =>
  actors.ask(auditJobsDecider, AUDIT_JOBS_STREAM, (state) => state)

/** Returns the items of a response for jobs, newest first, with the progress of running jobs. */
async function jobAnswers<Job extends AuditJob, Answer>(
  { core }: ReadDeps,
  jobs: readonly Job[],
  language: Language,
  answerOf: (job: Job, progress: JobProgress | null, language: Language) => Answer,
): Promise<Answer[]> {
  const ids = jobs.filter(isOpen).map(({ request }) => request.id)
  const progress = await readProgress(core.pg, ids)
  return jobs
    .toReversed()
    .map((job) => answerOf(job, progress.get(job.request.id) ?? null, language))
}

const seconds = (ms: number): number => Math.floor(ms / 1_000)

function progressAnswer(progress: JobProgress | null) {
  if (progress === null) return null
  const { secondsLeft, ...others } = progress
  return { ...others, seconds_left: secondsLeft }
}

const FAILED: TranslatedText = {
  zh: '失败原因见服务器日志',
  en: 'The log of the server says why the job failed',
}

function jobAnswer(
  { request, result, failure }: AuditJob,
  progress: JobProgress | null,
  language: Language,
) {
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
    error: failure === null ? '' : FAILED[language],
  }
}

function verificationAnswer(
  job: VerificationJob,
  progress: JobProgress | null,
  language: Language,
): Verification {
  const { result } = job
  return {
    ...jobAnswer(job, progress, language),
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
    findings: (result?.findings ?? []).map((finding) => findingAnswer(finding, language)),
  }
}

function findingAnswer(finding: Finding, language: Language): AuditFinding {
  const { check, position, stream, revision } = finding
  const detail = detailIn(language, finding)
  const is_acknowledged = finding.isAcknowledged === true
  return { check: check as AuditCheck, position, stream, revision, detail, is_acknowledged }
}

function rebuildAnswer(job: RebuildJob, progress: JobProgress | null, language: Language): Rebuild {
  const answer = jobAnswer(job, progress, language)
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
