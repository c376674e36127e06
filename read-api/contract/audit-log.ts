import Type, { type Static } from 'typebox'
import { Envelope, Query } from './response-envelope.ts'

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** The kinds of objects in the audit log. */
export const ACT_OBJECT_KINDS = [
  'channel',
  'correction',
  'invoice',
  'job',
  'message',
  'option',
  'order',
  'price-change',
  'redemption',
  'site',
  'token',
  'user',
] as const
export type ActObjectKind = (typeof ACT_OBJECT_KINDS)[number]

const Fields = Type.Record(Type.String(), Type.Unknown())

/** One administrative or security act on one object. */
export const AuditAct = Type.Object({
  position: Type.Integer(),
  /** The time of the act in Unix seconds. */
  created_at: Type.Integer(),
  /** The user, or the part of the site that acted by itself, such as `system:channels`. */
  actor: Type.Object({ kind: Type.String(), id: Type.String(), name: Type.String() }),
  /** The type of the act, such as `user-role-changed`. It is the event's type in kebab case. */
  act: Type.String(),
  object: Type.Object({ kind: Type.String(), id: Type.String(), name: Type.String() }),
  /**
   * The changed fields before and after the act. Texts that may contain a secret appear as
   * fingerprints, and secrets as `***`.
   */
  before: nullable(Fields),
  after: Fields,
  /** The reason that an admin wrote, or an empty text. */
  reason: Type.String(),
  /** True if a reason was given that became unreadable, because its user was erased. */
  is_reason_erased: Type.Boolean(),
  client_ip: Type.String(),
  request_id: nullable(Type.String()),
})
export type AuditAct = Static<typeof AuditAct>

const AuditActs = Type.Object({
  /** The acts, newest first. */
  items: Type.Array(AuditAct),
  next_cursor: nullable(Type.String()),
})

const filters = {
  /** The name of a user, `user:7`, or another actor such as `system:channels`. */
  actor: Query.text,
  act: Query.text,
  /** `channel:3`: the history of an object. */
  object: Query.text,
  from: Query.integer,
  to: Query.integer,
}

const ActsQuery = Type.Object({ ...filters, cursor: Query.text, limit: Query.integer })
const ActsExportQuery = Type.Object({
  ...filters,
  format: Type.Optional(Type.Union([Type.Literal('csv'), Type.Literal('ndjson')])),
})
export type ActsQuery = Static<typeof ActsQuery>
export type ActsExportQuery = Static<typeof ActsExportQuery>

export const auditLogQueries = {
  'GET /api/audit/log': { querystring: ActsQuery, response: { 200: Envelope(AuditActs) } },
  'GET /api/audit/log/export': { querystring: ActsExportQuery },
}
