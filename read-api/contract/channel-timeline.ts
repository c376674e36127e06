import Type, { type Static } from 'typebox'
import { Envelope, IdParams, Query } from './envelope.ts'

const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const oneOf = <T extends string>(texts: readonly T[]) =>
  Type.Unsafe<T>(Type.Union(texts.map((text) => Type.Literal(text))))

export const TIMELINE_KINDS = [
  'created',
  'terms-changed',
  'enabled',
  'disabled',
  'auto-disabled',
  'expired',
  'deleted',
  'tagged',
  'tag-changed',
  'key-set-aside',
  'keys-taken-back',
  'circuit-opened',
  'circuit-half-opened',
  'circuit-closed',
  'tested',
] as const

/** Fields that do not apply to the kind of the entry are left out. */
export const TimelineEntry = Type.Object({
  /** The position of its event; negative for an entry that only time caused. */
  id: Type.Integer(),
  /** Unix milliseconds. */
  at: Type.Integer(),
  kind: oneOf(TIMELINE_KINDS),
  /** The user who caused it; null: the gateway. */
  by: orNull(Type.Object({ id: Type.Integer(), name: Type.String() })),
  /** A code. */
  reason: Type.Optional(Type.String()),
  /** The model of a circuit; null: the whole channel. */
  model: Type.Optional(orNull(Type.String())),
  /** For a key's circuit: the current index of the key (from 0), or null if it is gone. */
  key: Type.Optional(orNull(Type.Integer({ minimum: 0 }))),
  /** The changed fields of its terms, by wire name. */
  fields: Type.Optional(Type.Array(Type.String())),
  tag: Type.Optional(Type.String()),
  /** Only for `created`. */
  is_enabled: Type.Optional(Type.Boolean()),
  /** The number of keys that were enabled again, or of failures before a circuit opened. */
  count: Type.Optional(Type.Integer()),
  /** The end of a circuit's pause in Unix milliseconds. */
  until: Type.Optional(Type.Integer()),
  is_success: Type.Optional(Type.Boolean()),
  duration_ms: Type.Optional(Type.Integer()),
})
export type TimelineEntry = Static<typeof TimelineEntry>

export const STATES_AT = [
  'none',
  'on',
  'off',
  'auto-off',
  'expired',
  'circuit-open',
  'circuit-half-open',
  'partly-open',
  'deleted',
] as const

export const StateAt = Type.Object({
  /** The requested moment in Unix milliseconds. */
  at: Type.Integer(),
  state: oneOf(STATES_AT),
  /** The entry that caused the state; null if nothing had happened yet. */
  because: orNull(TimelineEntry),
})
export type StateAt = Static<typeof StateAt>

export const ChannelTimeline = Type.Object({
  items: Type.Array(TimelineEntry),
  page: Type.Integer(),
  total: Type.Integer(),
  /** null if no moment was requested. */
  state_at: orNull(StateAt),
})
export type ChannelTimeline = Static<typeof ChannelTimeline>

const TimelineQuery = Type.Object({
  ...Query.page,
  /** Unix seconds; both ends are inclusive. */
  from: Query.integer,
  to: Query.integer,
  at: Query.integer,
})

export const timelineQueries = {
  'GET /api/channel/:id/timeline': {
    summary: 'Get the history of a channel, and its state at a moment',
    params: IdParams,
    querystring: TimelineQuery,
    response: { 200: Envelope(ChannelTimeline) },
  },
}
