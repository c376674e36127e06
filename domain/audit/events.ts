import type { Fact, Sealed } from '../shared/event.ts'
import type { CheckCount, Finding } from './findings.ts'

/** The stream of verifications, rebuilds and scratch copies that were requested. */
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
    /**
     * The mode that was used. A requested `incremental` verification becomes `full` if nothing was
     * verified before.
     */
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

/** A copy of the read models as of a position was requested, to look at in the console. */
export type ScratchCopyRequested = Fact<
  'ScratchCopyRequested',
  Requested & {
    /** The position of the last event in the copy, which was written at `asOf`. */
    readonly position: number
    readonly asOf: number
  }
>

export type ScratchCopyBuilt = Fact<
  'ScratchCopyBuilt',
  { readonly id: string; readonly bytes: number; readonly finishedAt: number }
>

/**
 * The reason why copies ended. A user deleted them, they were too old or too large, or the personal
 * data of a user was erased and a copy could still contain the user's name.
 */
export type ScratchCopyEnd = 'deleted' | 'expired' | 'too-large' | 'erasure'

/** Scratch copies can not be opened any more, and their tables are dropped. */
export type ScratchCopiesEnded = Fact<
  'ScratchCopiesEnded',
  { readonly ids: readonly string[]; readonly reason: ScratchCopyEnd; readonly endedAt: number }
>

/** A job ended without a result. The log of the process says why. */
export type AuditJobFailed = Fact<
  'AuditJobFailed',
  { readonly id: string; readonly finishedAt: number }
>

/**
 * The admins were notified of the findings of a verification, or of the refusal of a witness. The
 * same append sends the message.
 */
export type FindingsNotified = Fact<'FindingsNotified', { readonly id: string }>

/** The key that signs the checkpoints of the log was replaced. Both keys are the public ones. */
export type LogKeyRotated = Fact<
  'LogKeyRotated',
  {
    readonly oldKey: string
    readonly newKey: string
    /** The number of events that were sealed with the old key. */
    readonly treeSize: number
    readonly rotatedAt: number
  }
>

/**
 * The reason why a witness does not sign. It has signed another tree of the same size, it has
 * signed a larger tree than the site has, or the site's tree does not continue the tree that it has
 * signed.
 */
export type WitnessRefusalReason = 'other-tree' | 'larger-tree' | 'not-continued'

/** A witness refused to sign, because the history differs from the one that it signed before. */
export type WitnessRefused = Fact<
  'WitnessRefused',
  {
    readonly id: string
    /** The name of the witness, as in its key. */
    readonly witness: string
    /** The number of events in the tree that the witness signed. */
    readonly size: number
    /** The number of events in the tree that it refused. */
    readonly refusedSize: number
    readonly reason: WitnessRefusalReason
    readonly refusedAt: number
  }
>

/**
 * An admin knows why a witness refused, for example because the database was restored from a
 * backup. Later verifications no longer count the refusal as a finding.
 */
export type RefusalAcknowledged = Fact<
  'RefusalAcknowledged',
  {
    /** The id, the witness and the size of the refusal. */
    readonly id: string
    readonly witness: string
    readonly size: number
    /** The reason, encrypted with the data key of the admin. */
    readonly note: Sealed
    readonly acknowledgedBy: number
    readonly acknowledgedAt: number
  }
>

/** The stream of exports, by which auditors and admins read data of others. */
export const EXPORTS_STREAM = 'exports'

/**
 * An export is about to be sent. The event is appended before, so that no data leaves the site
 * unrecorded.
 */
export type DataExported = Fact<
  'DataExported',
  {
    readonly exported:
      | 'events'
      | 'audit-log'
      | 'call-log'
      | 'ledger'
      | 'invoice-days'
      | 'invoice-requests'
    /** The user whose data was exported, or null for the data of all users. */
    readonly userId: number | null
    /** The invoice whose comparison was exported. Omitted for other data. */
    readonly invoiceId?: string
    readonly format: 'tar' | 'csv' | 'ndjson'
    /** The range: positions of events, and otherwise unix seconds. Null means unlimited. */
    readonly from: number | null
    readonly to: number | null
    /** The names of further filters, without their values, which may be personal data. */
    readonly filters: readonly string[]
  }
>

export type AuditJobEvent =
  | LogKeyRotated
  | WitnessRefused
  | RefusalAcknowledged
  | VerificationRequested
  | VerificationFinished
  | RebuildRequested
  | RebuildFinished
  | ScratchCopyRequested
  | ScratchCopyBuilt
  | ScratchCopiesEnded
  | AuditJobFailed
  | FindingsNotified
