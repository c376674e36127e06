import Type, { type Static } from 'typebox'
import { IdParams, Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

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

/** One entry of the timeline. Fields that do not apply to the kind of the entry are omitted. */
export const TimelineEntry = Type.Object({
  /** The position of the event. An expiry has no event, so the id of an expiry is negative. */
  id: Type.Integer(),
  /** The time of the entry in Unix milliseconds. */
  at: Type.Integer(),
  kind: oneOf(TIMELINE_KINDS),
  /** The user who caused the entry, or null if the gateway caused it. */
  by: orNull(Type.Object({ id: Type.Integer(), name: Type.String() })),
  /** A code that says why the event happened. */
  reason: Type.Optional(Type.String()),
  /** The model to which the circuit applies, or null for all models. */
  model: Type.Optional(orNull(Type.String())),
  /**
   * The key that the entry concerns, as an index into the current keys (from 0). Null if the
   * channel no longer has the key.
   */
  key: Type.Optional(orNull(Type.Integer({ minimum: 0 }))),
  /** The API names of the channel fields that the entry changed. */
  fields: Type.Optional(Type.Array(Type.String())),
  tag: Type.Optional(Type.String()),
  /**
   * True if the channel was enabled when it was created. Only entries of the kind `created` have
   * this field.
   */
  is_enabled: Type.Optional(Type.Boolean()),
  /**
   * The number of keys that were enabled again. For a circuit that opened: the number of failures.
   */
  count: Type.Optional(Type.Integer()),
  /** The end of a circuit's pause in Unix milliseconds. */
  until: Type.Optional(Type.Integer()),
  is_success: Type.Optional(Type.Boolean()),
  duration_ms: Type.Optional(Type.Integer()),
})
export type TimelineEntry = Static<typeof TimelineEntry>

const STATES_AT = [
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
  /** The requested time in Unix milliseconds. */
  at: Type.Integer(),
  state: oneOf(STATES_AT),
  /** The entry that led to the channel's state. Null if the channel did not exist at this time. */
  because: orNull(TimelineEntry),
})
export type StateAt = Static<typeof StateAt>

export const ChannelTimeline = Type.Object({
  items: Type.Array(TimelineEntry),
  page: Type.Integer(),
  total: Type.Integer(),
  /** The state of the channel at the requested time `at`, or null if the request has no `at`. */
  state_at: orNull(StateAt),
})
export type ChannelTimeline = Static<typeof ChannelTimeline>

const TimelineQuery = Type.Object({
  ...Query.page,
  /** The start of the range in Unix seconds. The range includes both `from` and `to`. */
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
