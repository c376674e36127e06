import type { Fact, Sealed } from '../shared/event.ts'
import type { CheckCount, Finding } from './findings.ts'

/**
 * The stream of the audit jobs (verifications, rebuilds and scratch copies), the rotations of the
 * log's key, and the refusals of witnesses with their acknowledgements. It also records which
 * findings and refusals the admins were notified of.
 */
export const AUDIT_JOBS_STREAM = 'audit-jobs'

/** `incremental` checks the events after the last verified position. `full` checks all events. */
export type VerificationMode = 'incremental' | 'full'

type Requested = {
  readonly id: string
  /** The user who requested the job, or null for the nightly verification. */
  readonly requestedBy: number | null
  /** Times are in Unix milliseconds. */
  readonly requestedAt: number
}

export type VerificationRequested = Fact<
  'VerificationRequested',
  Requested & { readonly mode: VerificationMode }
>

/** A verification has ended, with or without findings. */
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
    /** The root of the transparency log's Merkle tree in base64, or null if no event is sealed. */
    readonly root: string | null
    readonly treeSize: number
    readonly checks: readonly CheckCount[]
    readonly findingCount: number
    /** The first findings of the verification. `findingCount` counts all of its findings. */
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
    /** The rebuilt read models. Each one includes all events up to `position`. */
    readonly readModels: readonly { readonly name: string; readonly position: number }[]
    readonly finishedAt: number
  }
>

/** A user requested a copy of the read models as of a position, to look at it in the console. */
export type ScratchCopyRequested = Fact<
  'ScratchCopyRequested',
  Requested & {
    /** The position of the last event in the copy. This event was written at the time `asOf`. */
    readonly position: number
    readonly asOf: number
  }
>

export type ScratchCopyBuilt = Fact<
  'ScratchCopyBuilt',
  { readonly id: string; readonly bytes: number; readonly finishedAt: number }
>

/**
 * The reason why copies ended. `erasure`: the personal data of a user was erased, and copies could
 * still contain the user's name.
 */
export type ScratchCopyEnd = 'deleted' | 'expired' | 'too-large' | 'erasure'

/** The scratch copies can no longer be opened, and their tables are dropped. */
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
 * same append sends the message to the admins.
 */
export type FindingsNotified = Fact<'FindingsNotified', { readonly id: string }>

/**
 * The key that signs the checkpoints of the transparency log was replaced. `oldKey` and `newKey`
 * are public keys.
 */
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
 * The reason why a witness refused. `other-tree`: the witness has signed another tree of the same
 * size. `larger-tree`: the witness has signed a larger tree than the site has. `not-continued`: the
 * site's tree does not continue the tree that the witness has signed.
 */
export type RefusedCosignatureReason = 'other-tree' | 'larger-tree' | 'not-continued'

/**
 * A witness refused to sign a checkpoint of the transparency log, because this checkpoint
 * contradicts a checkpoint that the witness signed earlier. A witness is an independent server that
 * signs checkpoints.
 */
export type WitnessRefused = Fact<
  'WitnessRefused',
  {
    readonly id: string
    /** The name of the witness, which is part of the witness's public key. */
    readonly witness: string
    /** The number of events in the tree that the witness signed. */
    readonly size: number
    /** The number of events in the tree that the witness refused. */
    readonly refusedSize: number
    /** The root of the refused tree, in base64. Omitted in events of earlier releases. */
    readonly refusedRoot?: string
    readonly reason: RefusedCosignatureReason
    readonly refusedAt: number
  }
>

/**
 * An admin acknowledged that a witness refused one tree. The admin knows the reason, for example
 * that the database was restored from a backup. Later verifications no longer count this refusal as
 * a finding. If the witness later refuses a tree that does not continue this tree, that is a
 * separate refusal.
 */
export type RefusalAcknowledged = Fact<
  'RefusalAcknowledged',
  {
    /** The id, the name of the witness and the tree size, as in the event `WitnessRefused`. */
    readonly id: string
    readonly witness: string
    readonly size: number
    /**
     * The size and root of the refused tree. Both are omitted if the event `WitnessRefused` has no
     * root.
     */
    readonly refusedSize?: number
    readonly refusedRoot?: string
    /** The reason, encrypted with the data key of the admin. */
    readonly note: Sealed
    readonly acknowledgedBy: number
    readonly acknowledgedAt: number
  }
>

/** The event stream that records every export of other users' data by an auditor or an admin. */
export const EXPORTS_STREAM = 'exports'

/**
 * An export is about to be sent. The event is appended before the first byte is sent, so that no
 * data leaves the site unrecorded.
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
    /**
     * The provider invoice whose comparison with the calls was exported. Omitted for other data.
     */
    readonly invoiceId?: string
    readonly format: 'tar' | 'csv' | 'ndjson'
    /**
     * The bounds of the export: positions if events are exported, otherwise Unix seconds. Null
     * means no bound.
     */
    readonly from: number | null
    readonly to: number | null
    /**
     * The names of the query parameters that filtered the export, except those of `from` and `to`.
     * The values of these parameters are not stored, because they may be personal data.
     */
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
