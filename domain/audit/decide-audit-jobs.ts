import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import {
  decideOnScratchCopies,
  isBuildingCopy,
  type ScratchCopyCommand,
  type ScratchCopyErrorCode,
  type ScratchCopyJob,
  withEndedCopies,
  withRequestedCopy,
} from './decide-scratch-copies.ts'
import {
  decideRefusedCosignature,
  type RefusedCosignature,
  type RefusedCosignatureCommand,
  type RefusedCosignatureErrorCode,
  withAcknowledged,
} from './decide-witness-refusals.ts'
import type {
  AuditJobEvent,
  LogKeyRotated,
  RebuildFinished,
  RebuildRequested,
  VerificationFinished,
  VerificationRequested,
} from './events.ts'
import { countHistoryFindings } from './findings.ts'

type JobEnd = { readonly finishedAt: number }

export type VerificationJob = {
  readonly kind: 'verification'
  readonly request: VerificationRequested['data']
  readonly result: VerificationFinished['data'] | null
  readonly failure: JobEnd | null
  /** True if the admins were notified of the findings. */
  readonly isNotified: boolean
}

export type RebuildJob = {
  readonly kind: 'rebuild'
  readonly request: RebuildRequested['data']
  readonly result: RebuildFinished['data'] | null
  readonly failure: JobEnd | null
}

export type AuditJob = VerificationJob | RebuildJob | ScratchCopyJob

/** The latest jobs of each kind, oldest first. */
export type AuditJobsState = {
  readonly verifications: readonly VerificationJob[]
  readonly rebuilds: readonly RebuildJob[]
  readonly scratchCopies: readonly ScratchCopyJob[]
  /** The public keys that replaced an earlier key of the transparency log, oldest first. */
  readonly rotatedKeys: readonly string[]
  /**
   * The refusals of witnesses to sign because they had signed a different history, oldest first.
   */
  readonly refusals: readonly RefusedCosignature[]
}

const JOBS_KEPT = 100

export type AuditJobCommand =
  | ScratchCopyCommand
  | RefusedCosignatureCommand
  | ({ readonly type: 'RequestVerification' } & VerificationRequested['data'])
  | ({ readonly type: 'FinishVerification' } & VerificationFinished['data'])
  | ({ readonly type: 'RequestRebuild' } & RebuildRequested['data'])
  | ({ readonly type: 'FinishRebuild' } & RebuildFinished['data'])
  | { readonly type: 'NotifyOfFindings'; readonly id: string }
  | ({ readonly type: 'RecordKeyRotation' } & LogKeyRotated['data'])
  | { readonly type: 'FailAuditJob'; readonly id: string; readonly finishedAt: number }

export type AuditJobErrorCode =
  | ScratchCopyErrorCode
  | RefusedCosignatureErrorCode
  /**
   * A verification in the other mode is running. Params: `id`, the id of the running verification.
   */
  | 'VerificationRunning'
  | 'RebuildRunning'
  /** The admins were already notified, or no finding or refusal requires a notification. */
  | 'NothingToNotify'
type AuditJobError = CodedError<AuditJobErrorCode>

/**
 * Decides on audit jobs. At most one verification and one rebuild run at a time. While a
 * verification is running, a request for the same mode changes nothing, and a request for the other
 * mode is refused. While a rebuild is running, a request with its id changes nothing, and any other
 * request for a rebuild is refused. The end of a job that is unknown or has ended changes nothing,
 * because a process that lost its lease may report the end late. A rotation of the log's key is
 * recorded once.
 */
export const auditJobsDecider: Decider<
  AuditJobsState,
  AuditJobCommand,
  AuditJobEvent,
  AuditJobError
> = {
  initialState: () => ({
    ...{ verifications: [], rebuilds: [], scratchCopies: [], rotatedKeys: [], refusals: [] },
  }),
  decide,
  evolve,
}

function decide(
  command: AuditJobCommand,
  { verifications, rebuilds, scratchCopies, rotatedKeys, refusals }: AuditJobsState,
): readonly AuditJobEvent[] | AuditJobError {
  switch (command.type) {
    case 'RequestVerification': {
      const { type, ...data } = command
      const running = verifications.find(isOpen)
      if (running?.request.mode === data.mode) return []
      if (running !== undefined)
        return codedError('VerificationRunning', { id: running.request.id })
      return [{ type: 'VerificationRequested', v: 1, data }]
    }
    case 'RequestRebuild': {
      const { type, ...data } = command
      const running = rebuilds.find(isOpen)
      if (running?.request.id === data.id) return []
      if (running !== undefined) return codedError('RebuildRunning', { id: running.request.id })
      return [{ type: 'RebuildRequested', v: 1, data }]
    }
    case 'FinishVerification': {
      const { type, ...data } = command
      return isOpenJob(verifications, data.id) ? [{ type: 'VerificationFinished', v: 1, data }] : []
    }
    case 'FinishRebuild': {
      const { type, ...data } = command
      return isOpenJob(rebuilds, data.id) ? [{ type: 'RebuildFinished', v: 1, data }] : []
    }
    case 'NotifyOfFindings': {
      const { id } = command
      const isNeeded =
        verifications.some((job) => job.request.id === id && needsNotice(job)) ||
        refusals.some((refusal) => refusal.id === id && !refusal.isNotified)
      // This error also prevents the message to the admins, which is part of the same append.
      if (!isNeeded) return codedError('NothingToNotify')
      return [{ type: 'FindingsNotified', v: 1, data: { id } }]
    }
    case 'RecordKeyRotation': {
      const { type, ...data } = command
      return rotatedKeys.includes(data.newKey) ? [] : [{ type: 'LogKeyRotated', v: 1, data }]
    }
    case 'RecordRefusedCosignature':
    case 'AcknowledgeRefusedCosignature':
      return decideRefusedCosignature(command, refusals)
    case 'FailAuditJob': {
      const { type, ...data } = command
      const building = scratchCopies.filter(isBuildingCopy)
      const isThere = isOpenJob([...verifications, ...rebuilds, ...building], data.id)
      return isThere ? [{ type: 'AuditJobFailed', v: 1, data }] : []
    }
    case 'RequestScratchCopy':
    case 'FinishScratchCopy':
    case 'EndScratchCopies':
      return decideOnScratchCopies(command, scratchCopies)
  }
}

export const isOpen = ({ result, failure }: AuditJob): boolean =>
  result === null && failure === null

/**
 * Reports whether the admins must be notified of a verification's findings. Findings about
 * witnesses are not counted, because the admins are notified once of each refusal, not every night.
 */
export const needsNotice = ({ result, isNotified }: VerificationJob): boolean =>
  result !== null && countHistoryFindings(result) > 0 && !isNotified

const isOpenJob = (jobs: readonly AuditJob[], id: string): boolean =>
  jobs.some((job) => job.request.id === id && isOpen(job))

function evolve(state: AuditJobsState, event: AuditJobEvent): AuditJobsState {
  const { verifications, rebuilds, scratchCopies } = state
  switch (event.type) {
    case 'VerificationRequested': {
      const request = event.data
      const job = { kind: 'verification', request, ...NOT_ENDED, isNotified: false } as const
      return { ...state, verifications: [...verifications, job].slice(-JOBS_KEPT) }
    }
    case 'RebuildRequested': {
      const job = { kind: 'rebuild', request: event.data, ...NOT_ENDED } as const
      return { ...state, rebuilds: [...rebuilds, job].slice(-JOBS_KEPT) }
    }
    case 'VerificationFinished':
      return { ...state, verifications: withEnd(verifications, { result: event.data }) }
    case 'RebuildFinished':
      return { ...state, rebuilds: withEnd(rebuilds, { result: event.data }) }
    case 'FindingsNotified': {
      const { id } = event.data
      const notified = verifications.map((job) =>
        job.request.id === id ? { ...job, isNotified: true } : job,
      )
      const refusals = state.refusals.map((refusal) =>
        refusal.id === id ? { ...refusal, isNotified: true } : refusal,
      )
      return { ...state, verifications: notified, refusals }
    }
    case 'AuditJobFailed': {
      const end = { failure: event.data }
      return {
        ...state,
        verifications: withEnd(verifications, end),
        rebuilds: withEnd(rebuilds, end),
        scratchCopies: withEnd(scratchCopies, end),
      }
    }
    case 'LogKeyRotated':
      return { ...state, rotatedKeys: [...state.rotatedKeys, event.data.newKey] }
    case 'WitnessRefused':
      return {
        ...state,
        refusals: [...state.refusals, { ...event.data, isNotified: false, acknowledgedAt: null }],
      }
    case 'RefusalAcknowledged':
      return { ...state, refusals: withAcknowledged(state.refusals, event.data) }
    case 'ScratchCopyRequested':
      return { ...state, scratchCopies: withRequestedCopy(scratchCopies, event.data) }
    case 'ScratchCopyBuilt':
      return { ...state, scratchCopies: withEnd(scratchCopies, { result: event.data }) }
    case 'ScratchCopiesEnded':
      return { ...state, scratchCopies: withEndedCopies(scratchCopies, event.data) }
  }
}

const NOT_ENDED = { result: null, failure: null } as const

type End<Job extends AuditJob> =
  | { readonly result: NonNullable<Job['result']> }
  | { readonly failure: JobEnd & { readonly id: string } }

function withEnd<Job extends AuditJob>(jobs: readonly Job[], end: End<Job>): readonly Job[] {
  const { id } = 'result' in end ? end.result : end.failure
  return jobs.map((job) => (job.request.id === id && isOpen(job) ? { ...job, ...end } : job))
}
