import { randomUUID } from 'node:crypto'
import {
  type AuditJobCommand,
  type AuditJobsState,
  auditJobsDecider,
  isOpen,
  type VerificationJob,
} from '#domain/audit/decide-audit-jobs.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { countHistoryFindings, type Finding } from '#domain/audit/findings.ts'
import type { ProjectionName } from '#projections/projection-names.ts'
import { dropUnfinishedReadModels } from '#projections/rebuild-and-verification-schemas/query.ts'
import { lowestOf } from '#projections/runner/checkpoints.ts'
import type { ProjectionRunner } from '#projections/runner/start-projections.ts'
import type { Core } from '../core-dependencies.ts'
import { pauseUntilCommit } from '../event-store/pause-idle-work-until-next-event.ts'
import { reasonOf, warnThrottled } from '../telemetry/log.ts'
import { deleteProgress, progressWriter } from './job-progress.ts'
import { buildNextScratchCopy, cleanScratchCopies } from './scratch-copy-jobs.ts'
import { ensureAuditTables } from './state-after-last-verification.ts'
import { type SiteVerification, verifySite } from './verify-site-data.ts'

export type AuditJobs = { readonly stop: () => Promise<void> }

const CHECK_INTERVAL_MS = 2_000
/**
 * The time in milliseconds between two searches for tables to remove while there are no scratch
 * copies.
 */
const CLEAN_EVERY_MS = 30_000
/**
 * The maximum pause in milliseconds while no event is committed. The limit is needed for work that
 * becomes due without an event: the nightly verification, and the removal of a killed process's
 * tables.
 */
const IDLE_MS_MAX = 30_000

type Deps = {
  readonly core: Core
  readonly projections: Pick<ProjectionRunner, 'rebuild'>
  readonly runningSince: number
}

/**
 * Starts the background work of the audit: requested verifications, rebuilds of read models,
 * scratch copies, and the nightly verification. Also removes the tables of work that was killed. A
 * lease for each kind of work ensures that only one process at a time does this kind of work. If
 * the process dies, the next holder of the lease starts the job again.
 */
export async function startAuditJobs(
  core: Core,
  projections: Pick<ProjectionRunner, 'rebuild'>,
): Promise<AuditJobs> {
  await ensureAuditTables(core.pg)
  const deps: Deps = { core, projections, runningSince: core.now() }
  const verifications = core.leases.hold('audit-verifications', (_lease, lost) =>
    repeat(core, lost, (schedule) => runVerifications(deps, schedule, lost)),
  )
  const rebuilds = core.leases.hold('audit-rebuilds', (_lease, lost) =>
    repeat(core, lost, () => runRebuild(deps, lost)),
  )
  const copies = core.leases.hold('audit-scratch-copies', (_lease, lost) =>
    repeat(core, lost, () => buildNextScratchCopy(core, lost)),
  )
  const cleanup = core.leases.hold('audit-scratch-copies-cleanup', (_lease, lost) =>
    repeat(core, lost, async (schedule) => {
      const copies = await cleanScratchCopies(core)
      await dropUnfinishedReadModels(core.pg)
      schedule.pauseMs = copies === 0 ? CLEAN_EVERY_MS : CHECK_INTERVAL_MS
    }),
  )
  return {
    stop: async () => {
      await Promise.all([verifications, rebuilds, copies, cleanup].map((lease) => lease.stop()))
    },
  }
}

type Schedule = {
  /**
   * The time of the next nightly verification in Unix milliseconds, or null until it is computed.
   */
  nextRunAt: number | null
  pauseMs: number
}

/**
 * Runs `run` repeatedly. `run` sets `pauseMs` if the pause before its next run is not the usual
 * one.
 */
async function repeat(
  core: Core,
  lost: AbortSignal,
  run: (schedule: Schedule) => Promise<void>,
): Promise<void> {
  const schedule: Schedule = { nextRunAt: null, pauseMs: CHECK_INTERVAL_MS }
  while (!lost.aborted) {
    let seen = core.store.commits?.position() ?? null
    await run(schedule).catch((error: unknown) => {
      seen = null
      warnThrottled(core.log, { reason: reasonOf(error) }, 'an audit job waits for the database')
    })
    const everyMs = schedule.pauseMs
    await pauseUntilCommit(core.store, { seen, everyMs, idleMs: IDLE_MS_MAX, signal: lost })
  }
}

const jobsOf = ({ actors }: Core): Promise<AuditJobsState> =>
  actors.stateOf(auditJobsDecider, AUDIT_JOBS_STREAM)

async function append({ actors, now }: Core, command: AuditJobCommand): Promise<void> {
  const cause = 'id' in command ? command.id : null
  const context = { actor: 'system:audit', cause, at: now() }
  await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
}

async function runVerifications(deps: Deps, schedule: Schedule, lost: AbortSignal): Promise<void> {
  const { core } = deps
  const jobs = await jobsOf(core)
  const open = jobs.verifications.find(isOpen)
  if (open !== undefined) return await runVerification(deps, open, lost)
  const last = jobs.verifications.at(-1)?.request.requestedAt ?? null
  schedule.nextRunAt ??= nextNightlyRun(deps.runningSince, last)
  if (core.now() < schedule.nextRunAt) return
  schedule.nextRunAt = nextNightlyRun(core.now(), core.now())
  await append(core, {
    ...{ type: 'RequestVerification', id: randomUUID(), requestedBy: null },
    ...{ requestedAt: core.now(), mode: nightlyMode(jobs, core.now()) },
  })
}

/**
 * Returns the mode of the nightly verification. The mode is full if no full verification that made
 * all checks was requested within the last 6.5 days, or if the last verification found something in
 * the history.
 */
export function nightlyMode(
  { verifications }: Pick<AuditJobsState, 'verifications'>,
  now: number,
): 'incremental' | 'full' {
  const ended = verifications.flatMap(({ request, result }) =>
    result === null ? [] : [{ ...result, requestedAt: request.requestedAt }],
  )
  const lastFull = ended.findLast(({ mode, findings }) => mode === 'full' && !isStopped(findings))
  const last = ended.at(-1)
  const hasFindings = last !== undefined && countHistoryFindings(last) > 0
  const isRecent = lastFull !== undefined && now - lastFull.requestedAt < FULL_AFTER_MS
  return isRecent && !hasFindings ? 'incremental' : 'full'
}

/** Reports whether a verification was stopped before it had made all checks. */
const isStopped = (findings: readonly Finding[]): boolean =>
  findings.some(({ code }) => code === 'VerificationStopped')

async function runVerification(
  { core, runningSince }: Deps,
  { request: { id, mode } }: VerificationJob,
  lost: AbortSignal,
): Promise<void> {
  let result: SiteVerification
  try {
    const onProgress = progressWriter(core.pg, id)
    result = await verifySite(core, { mode, runningSince, onProgress, signal: lost })
  } catch (error) {
    return await fail(core, id, error, lost)
  }
  const { findings, ...found } = result
  const findingCount = findings.total()
  await append(core, {
    ...{ type: 'FinishVerification', id, ...found, checks: findings.summary(), findingCount },
    ...{ findings: findings.first(FINDINGS_KEPT), finishedAt: core.now() },
  })
  if (findingCount > 0) {
    const first = findings.list().find(({ isAcknowledged }) => isAcknowledged !== true)
    const fields = { alarm: 'audit-findings', id, findingCount, first }
    core.log.error(fields, 'a verification of the recorded events has findings')
  }
  await deleteProgress(core.pg, id)
}

const FINDINGS_KEPT = 100

/**
 * Records that a job has failed. If this process has only lost its lease, nothing is recorded, so
 * that another process runs the job.
 */
async function fail(core: Core, id: string, error: unknown, lost: AbortSignal): Promise<void> {
  if (lost.aborted) return
  core.log.error({ alarm: 'audit-job-failed', id, err: error }, 'an audit job failed')
  await append(core, { type: 'FailAuditJob', id, finishedAt: core.now() })
}

async function runRebuild({ core, projections }: Deps, lost: AbortSignal): Promise<void> {
  const open = (await jobsOf(core)).rebuilds.find(isOpen)
  if (open === undefined) return
  const { id, readModels } = open.request
  const onProgress = progressWriter(core.pg, id)
  try {
    const rebuilt = await projections.rebuild(readModels as readonly ProjectionName[], {
      onProgress: (done, total) => onProgress('events', done, total),
      signal: lost,
    })
    const positions = [...rebuilt].map(([name, lanes]) => ({ name, position: lowestOf(lanes) }))
    const result = { id, readModels: positions, finishedAt: core.now() }
    await append(core, { type: 'FinishRebuild', ...result })
    await deleteProgress(core.pg, id)
  } catch (error) {
    await fail(core, id, error, lost)
  }
}

const NIGHTLY_HOUR = 3
const DAY_MS = 86_400_000
/**
 * The next verification is full if the last full verification has at least this age in
 * milliseconds. The age is half a day less than a week, because nights are not exactly 24 hours
 * apart: with a full week, eight days could pass.
 */
const FULL_AFTER_MS = 6.5 * DAY_MS
/** The delay in milliseconds after which a missed nightly verification is made up for. */
const MISSED_RUN_DELAY_MS = 15 * 60_000

/**
 * Returns the time of the next nightly verification in Unix milliseconds. This is the next 03:00 in
 * the local time of the machine. If the last verification was requested more than a day before
 * `now`, a verification was missed, and the next one is at most 15 minutes after `now`.
 */
export function nextNightlyRun(now: number, lastRequestedAt: number | null): number {
  const next = new Date(now)
  next.setHours(NIGHTLY_HOUR, 0, 0, 0)
  if (next.getTime() <= now) next.setDate(next.getDate() + 1)
  const isMissed = lastRequestedAt !== null && now - lastRequestedAt > DAY_MS
  return isMissed ? Math.min(next.getTime(), now + MISSED_RUN_DELAY_MS) : next.getTime()
}
