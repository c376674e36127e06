import Type, { type Static } from 'typebox'
import { Envelope } from './response-envelope.ts'

/**
 * The checks of a verification. `records` to `grants` are rules of the recorded events.
 * `transparency-log` and `signed-checkpoints` compare the events with the sealed tree, and
 * `read-models` compares the read models with a new fold of the events.
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
] as const
export type AuditCheck = (typeof AUDIT_CHECKS)[number]

const Check = Type.Unsafe<AuditCheck>(Type.Union(AUDIT_CHECKS.map((name) => Type.Literal(name))))

/**
 * A rule that does not hold. `position`, `stream` and `revision` are null if no event is meant.
 * `detail` is in the language of the request; a finding of an earlier release is in English.
 */
export const AuditFinding = Type.Object({
  check: Check,
  position: Type.Union([Type.Integer(), Type.Null()]),
  stream: Type.Union([Type.String(), Type.Null()]),
  revision: Type.Union([Type.Integer(), Type.Null()]),
  detail: Type.String(),
  /** True if an admin acknowledged it. It is listed, and not counted. */
  is_acknowledged: Type.Boolean(),
})
export type AuditFinding = Static<typeof AuditFinding>

const JOB_STATUSES = ['waiting', 'running', 'finished', 'failed'] as const
const JobStatus = Type.Unsafe<(typeof JOB_STATUSES)[number]>(
  Type.Union(JOB_STATUSES.map((status) => Type.Literal(status))),
)

/** `done` of `total` steps. `seconds_left` is an estimate, and null before there is one. */
export const Progress = Type.Object({
  stage: Type.String(),
  done: Type.Integer(),
  total: Type.Integer(),
  seconds_left: Type.Union([Type.Integer(), Type.Null()]),
})

const job = {
  id: Type.String(),
  /** The user who requested the job, or null for the nightly verification. */
  requested_by: Type.Union([Type.Integer(), Type.Null()]),
  status: JobStatus,
  /** Times are in unix seconds. */
  requested_at: Type.Integer(),
  finished_at: Type.Union([Type.Integer(), Type.Null()]),
  progress: Type.Union([Progress, Type.Null()]),
  /** Says why the job failed. Empty otherwise. */
  error: Type.String(),
}

export const Verification = Type.Object({
  ...job,
  mode: Type.Union([Type.Literal('incremental'), Type.Literal('full')]),
  /** The events after `from_position` up to `to_position` were checked. */
  from_position: Type.Integer(),
  to_position: Type.Integer(),
  /** The root hash of the transparency log at its size, in base64, or null if nothing is sealed. */
  root: Type.Union([Type.String(), Type.Null()]),
  tree_size: Type.Integer(),
  /** How many times each check was made. A check that is not listed was not made. */
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

/** The positions of the first and the last event. Without them, all events are exported. */
const ExportRange = Type.Object({ from: position, to: position })

/** Newest first, at most the last 100. */
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
