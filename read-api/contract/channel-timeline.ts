import Type, { type Static } from 'typebox'

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

/** Fields that don't belong to an entry's kind are left out. */
export const TimelineEntry = Type.Object({
  /** The position of its event; negative for what time alone brought about. */
  id: Type.Integer(),
  /** Unix milliseconds. */
  at: Type.Integer(),
  kind: oneOf(TIMELINE_KINDS),
  /** Who did it; null: the gateway itself. */
  by: orNull(Type.Object({ id: Type.Integer(), name: Type.String() })),
  /** A code. */
  reason: Type.Optional(Type.String()),
  /** Of circuits null: of the whole channel. */
  model: Type.Optional(orNull(Type.String())),
  /** Of a key's circuit: its place as of now, from 0; null: it is gone. Else left out. */
  key: Type.Optional(orNull(Type.Integer({ minimum: 0 }))),
  /** Fields of its terms that changed, as on the wire. */
  fields: Type.Optional(Type.Array(Type.String())),
  tag: Type.Optional(Type.String()),
  /** Of `created`. */
  is_enabled: Type.Optional(Type.Boolean()),
  /** Of keys that were taken back, or of failures before a circuit opened. */
  count: Type.Optional(Type.Integer()),
  /** Unix milliseconds: a circuit's pause. */
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
  /** Unix milliseconds: the moment asked about. */
  at: Type.Integer(),
  state: oneOf(STATES_AT),
  /** What made it so; null where nothing had happened yet. */
  because: orNull(TimelineEntry),
})
export type StateAt = Static<typeof StateAt>

export const ChannelTimeline = Type.Object({
  items: Type.Array(TimelineEntry),
  page: Type.Integer(),
  total: Type.Integer(),
  /** null when no moment was asked about. */
  state_at: orNull(StateAt),
})
export type ChannelTimeline = Static<typeof ChannelTimeline>
