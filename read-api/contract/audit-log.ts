import Type, { type Static } from 'typebox'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** The kinds of objects whose changes the audit log lists. */
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

const Fields = Type.Record(Type.String(), Type.Unknown())

/** One entry of the audit log: an administrative or security action on one object. */
export const AuditAct = Type.Object({
  position: Type.Integer(),
  /** The time of the action in Unix seconds. */
  created_at: Type.Integer(),
  /** The actor: a user, or a process of the site such as `system:channels`. */
  actor: Type.Object({ kind: Type.String(), id: Type.String(), name: Type.String() }),
  /**
   * The action, which is the type of the recorded event in kebab case, such as `user-role-changed`.
   */
  act: Type.String(),
  /**
   * The object of the action. `name` is set only for channels, and for users who are not erased.
   */
  object: Type.Object({ kind: Type.String(), id: Type.String(), name: Type.String() }),
  /**
   * The fields that the action changed, with their values before and after the action. `before` is
   * null for a login, and if there are no earlier values. A text that may contain a secret is
   * replaced by a fingerprint, and a secret by `***`.
   */
  before: nullable(Fields),
  after: Fields,
  /** The reason that an admin wrote, or an empty text. */
  reason: Type.String(),
  /**
   * True if an admin wrote a reason that can no longer be read, because a user's data was erased.
   */
  is_reason_erased: Type.Boolean(),
  client_ip: Type.String(),
  request_id: nullable(Type.String()),
})
export type AuditAct = Static<typeof AuditAct>

const AuditActs = Type.Object({
  /** The entries, newest first. */
  items: Type.Array(AuditAct),
  next_cursor: nullable(Type.String()),
})

const filters = {
  /** A user name, or an actor such as `user:7` or `system:channels`. */
  actor: Query.text,
  act: Query.text,
  /** Limits the list to the history of one object, such as `channel:3`. */
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
