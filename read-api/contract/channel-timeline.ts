import Type, { type Static } from 'typebox'
import { Envelope, IdParams, Query } from './response-envelope.ts'

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

/** An entry of a channel's timeline. Fields that do not apply to the entry's kind are omitted. */
export const TimelineEntry = Type.Object({
  /** The position of the entry's event. It is negative for an expiry, which has no event. */
  id: Type.Integer(),
  /** The time of the entry in Unix milliseconds. */
  at: Type.Integer(),
  kind: oneOf(TIMELINE_KINDS),
  /** The user who caused the entry. It is null if the gateway caused the entry. */
  by: orNull(Type.Object({ id: Type.Integer(), name: Type.String() })),
  /** The code of the reason for the entry. */
  reason: Type.Optional(Type.String()),
  /** The model that the circuit covers. It is null if the circuit covers all models. */
  model: Type.Optional(orNull(Type.String())),
  /**
   * The current index (from 0) of the key that the circuit covers. It is null if the key was
   * removed.
   */
  key: Type.Optional(orNull(Type.Integer({ minimum: 0 }))),
  /** The fields of the channel's terms that were changed, by their names in the API. */
  fields: Type.Optional(Type.Array(Type.String())),
  tag: Type.Optional(Type.String()),
  /**
   * Set if the channel was created enabled. The field only occurs in entries of the kind `created`.
   */
  is_enabled: Type.Optional(Type.Boolean()),
  /**
   * The number of keys that were enabled again, or the number of failures that opened a circuit.
   */
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
  /** The time for which the state was requested, in Unix milliseconds. */
  at: Type.Integer(),
  state: oneOf(STATES_AT),
  /**
   * The timeline entry that caused the state. It is null if the channel did not exist at that time.
   */
  because: orNull(TimelineEntry),
})
export type StateAt = Static<typeof StateAt>

export const ChannelTimeline = Type.Object({
  items: Type.Array(TimelineEntry),
  page: Type.Integer(),
  total: Type.Integer(),
  /** The state of the channel at the requested time. It is null if no time was requested. */
  state_at: orNull(StateAt),
})
export type ChannelTimeline = Static<typeof ChannelTimeline>

const TimelineQuery = Type.Object({
  ...Query.page,
  /**
   * The start of the range in Unix seconds. `to` is the end of the range. Both times are included.
   */
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
