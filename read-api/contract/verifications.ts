import Type, { type Static } from 'typebox'
import { Envelope } from './response-envelope.ts'

/**
 * The checks that a verification of the recorded events can make. `records` to `grants` check rules
 * that the events must obey. `transparency-log` and `signed-checkpoints` compare the events with
 * the hashes in the transparency log. `witnesses` finds witnesses that refused to sign the log.
 * `read-models` folds the events again and compares the result with the read models. `snapshots`
 * compares the snapshots of streams with their MACs.
 */
export const AUDIT_CHECKS = [
  'records',
  'positions',
  'revisions',
  'postings',
  'running-balances',
  'trial-balance',
  'prices',
  'charges',
  'call-ends',
  'leases',
  'redemptions',
  'orders',
  'grants',
  'transparency-log',
  'signed-checkpoints',
  'witnesses',
  'read-models',
  'snapshots',
] as const
export type AuditCheck = (typeof AUDIT_CHECKS)[number]

const Check = Type.Unsafe<AuditCheck>(Type.Union(AUDIT_CHECKS.map((name) => Type.Literal(name))))

/**
 * A violation of a rule. `position`, `stream` and `revision` are null if the finding does not
 * concern a single event. `detail` is in the language of the request, or in English if an older
 * release found the violation.
 */
export const AuditFinding = Type.Object({
  check: Check,
  position: Type.Union([Type.Integer(), Type.Null()]),
  stream: Type.Union([Type.String(), Type.Null()]),
  revision: Type.Union([Type.Integer(), Type.Null()]),
  detail: Type.String(),
  /**
   * The parts of `detail`. The value of an `amount` is in quota units. The values of `call` and
   * `user` are the id of a call and of a user.
   */
  parts: Type.Array(
    Type.Object({
      kind: Type.Union([
        Type.Literal('text'),
        Type.Literal('amount'),
        Type.Literal('call'),
        Type.Literal('user'),
      ]),
      value: Type.String(),
    }),
  ),
  /**
   * True if an admin acknowledged the finding. Acknowledged findings are listed but not counted.
   */
  is_acknowledged: Type.Boolean(),
})
export type AuditFinding = Static<typeof AuditFinding>

const JOB_STATUSES = ['waiting', 'running', 'finished', 'failed'] as const
const JobStatus = Type.Unsafe<(typeof JOB_STATUSES)[number]>(
  Type.Union(JOB_STATUSES.map((status) => Type.Literal(status))),
)

/**
 * The progress of a job: `done` of `total` steps. `seconds_left` is an estimate of the remaining
 * time, or null if no estimate is possible yet.
 */
export const Progress = Type.Object({
  stage: Type.String(),
  done: Type.Integer(),
  total: Type.Integer(),
  seconds_left: Type.Union([Type.Integer(), Type.Null()]),
})

const job = {
  id: Type.String(),
  /** The user who requested the job. Null for the verification that runs every night. */
  requested_by: Type.Union([Type.Integer(), Type.Null()]),
  /**
   * The name of the user who requested the job. Empty for the nightly verification, and for an
   * erased user.
   */
  requested_by_name: Type.String(),
  status: JobStatus,
  /** The time of the request. All times are in Unix seconds. */
  requested_at: Type.Integer(),
  finished_at: Type.Union([Type.Integer(), Type.Null()]),
  progress: Type.Union([Progress, Type.Null()]),
  /** The reason why the job failed. Empty if the job did not fail. */
  error: Type.String(),
}

export const Verification = Type.Object({
  ...job,
  mode: Type.Union([Type.Literal('incremental'), Type.Literal('full')]),
  /** The events after `from_position` up to `to_position` were checked. */
  from_position: Type.Integer(),
  to_position: Type.Integer(),
  /**
   * The root hash of the transparency log in base64, at the size `tree_size`. Null if no checkpoint
   * exists yet.
   */
  root: Type.Union([Type.String(), Type.Null()]),
  tree_size: Type.Integer(),
  /** The number of times that each check was made. Checks that were not made are left out. */
  checks: Type.Array(
    Type.Object({ check: Check, count: Type.Integer(), findings: Type.Integer() }),
  ),
  finding_count: Type.Integer(),
  /** The first findings, at most 100. */
  findings: Type.Array(AuditFinding),
})
export type Verification = Static<typeof Verification>

export const Rebuild = Type.Object({
  ...job,
  read_models: Type.Array(
    Type.Object({
      name: Type.String(),
      status: JobStatus,
      done: Type.Integer(),
      total: Type.Integer(),
    }),
  ),
})
export type Rebuild = Static<typeof Rebuild>

const JobParams = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) })

const position = Type.Optional(Type.String({ pattern: '^[0-9]{0,15}$' }))

/**
 * The positions of the first and the last event to export. Without `from`, the export starts with
 * the first event. Without `to`, the export ends with the latest event.
 */
const ExportRange = Type.Object({ from: position, to: position })

/** Verifications and rebuilds are listed newest first, at most the last 100. */
export const verificationQueries = {
  'GET /api/audit/verifications': {
    summary: 'List the last verifications, newest first',
    response: { 200: Envelope(Type.Object({ items: Type.Array(Verification) })) },
  },
  'GET /api/audit/verifications/:id': {
    summary: 'Show a verification: its progress, what was checked, and its findings',
    params: JobParams,
    response: { 200: Envelope(Verification) },
  },
  'GET /api/audit/rebuilds': {
    summary: 'List the last rebuilds of read models, newest first, and the read models',
    response: {
      200: Envelope(
        Type.Object({ items: Type.Array(Rebuild), read_models: Type.Array(Type.String()) }),
      ),
    },
  },
  'GET /api/audit/export': {
    summary: 'Download events with proofs and an offline verifier as a tar archive',
    querystring: ExportRange,
  },
}
