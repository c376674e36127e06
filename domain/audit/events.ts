import type { Fact } from '../shared/event.ts'
import type { CheckCount, Finding } from './findings.ts'

/** The stream of verifications and rebuilds that were requested. */
export const AUDIT_JOBS_STREAM = 'audit-jobs'

/** `incremental` checks the events after the last verified position, `full` checks all events. */
export type VerificationMode = 'incremental' | 'full'

type Requested = {
  readonly id: string
  /** The user who requested the job, or null for the nightly verification. */
  readonly requestedBy: number | null
  /** Times are in unix milliseconds. */
  readonly requestedAt: number
}

export type VerificationRequested = Fact<
  'VerificationRequested',
  Requested & { readonly mode: VerificationMode }
>

/** The result of a verification, whether it has findings or not. */
export type VerificationFinished = Fact<
  'VerificationFinished',
  {
    readonly id: string
    /** It is `full` for a requested `incremental` one if nothing was verified before. */
    readonly mode: VerificationMode
    /** The events after `fromPosition` up to `toPosition` were checked. */
    readonly fromPosition: number
    readonly toPosition: number
    /** The root of the transparency log in base64, or null if nothing is sealed. */
    readonly root: string | null
    readonly treeSize: number
    readonly checks: readonly CheckCount[]
    readonly findingCount: number
    /** The first findings. */
    readonly findings: readonly Finding[]
    readonly finishedAt: number
  }
>

export type RebuildRequested = Fact<
  'RebuildRequested',
  Requested & { readonly readModels: readonly string[] }
>

export type RebuildFinished = Fact<
  'RebuildFinished',
  {
    readonly id: string
    /** The lowest position that each read model includes. */
    readonly readModels: readonly { readonly name: string; readonly position: number }[]
    readonly finishedAt: number
  }
>

/** A verification or rebuild ended without a result. The log of the process says why. */
export type AuditJobFailed = Fact<
  'AuditJobFailed',
  { readonly id: string; readonly finishedAt: number }
>

/** The admins were notified of the findings. The same append sends the message. */
export type FindingsNotified = Fact<'FindingsNotified', { readonly id: string }>

export type AuditJobEvent =
  | VerificationRequested
  | VerificationFinished
  | RebuildRequested
  | RebuildFinished
  | AuditJobFailed
  | FindingsNotified
