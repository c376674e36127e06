import Type, { type Static } from 'typebox'
import { PriceInForce } from './calls.ts'
import { Envelope, Query } from './response-envelope.ts'

/** A position (digits only) or a time in ISO 8601. Without it, the present. */
export const AtParameter = Type.Optional(Type.String({ maxLength: 40 }))

const AsOf = {
  /** The position of the last event that the state contains. */
  position: Type.Integer(),
  /** The time of that event in Unix seconds, or 0 before the first event. */
  at: Type.Integer(),
}

export const STATE_KINDS = ['token', 'channel', 'user', 'options', 'prices'] as const
export type StateKind = (typeof STATE_KINDS)[number]

/** The state of one object as of a position. Secrets that are set are `***`. */
export const StateAsOf = Type.Object({
  ...AsOf,
  kind: Type.Unsafe<StateKind>(Type.Union(STATE_KINDS.map((kind) => Type.Literal(kind)))),
  id: Type.String(),
  /** Null if the object did not exist then. An id that never existed is answered with 404. */
  state: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  /** False before the object was created. */
  is_deleted: Type.Boolean(),
  /** The last change before or at the position. Null without one. */
  last_change: Type.Union([
    Type.Object({
      position: Type.Integer(),
      revision: Type.Integer(),
      type: Type.String(),
      created_at: Type.Integer(),
      actor: Type.String(),
    }),
    Type.Null(),
  ]),
})
export type StateAsOf = Static<typeof StateAsOf>

/** The price of a model for a group as of a position, and the entries that make it. */
export const PricesAsOf = Type.Object({
  ...AsOf,
  model: Type.String(),
  group: Type.String(),
  /** The price as calls would have had it, or null if the model had no price. */
  price: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  in_force: Type.Array(PriceInForce),
})
export type PricesAsOf = Static<typeof PricesAsOf>

/** An event as it is stored. Sealed texts stay sealed. */
export const RawEvent = Type.Object({
  position: Type.Integer(),
  stream: Type.String(),
  revision: Type.Integer(),
  id: Type.String(),
  type: Type.String(),
  v: Type.Integer(),
  /** The time of the event in unix milliseconds. */
  at: Type.Integer(),
  actor: Type.String(),
  cause: Type.Union([Type.String(), Type.Null()]),
  data: Type.Record(Type.String(), Type.Unknown()),
})
export type RawEvent = Static<typeof RawEvent>

/**
 * A page of events in the order of their positions. A response reads a bounded number of events. It
 * may therefore have fewer items than `limit`, or none, although `next_cursor` is set: the next
 * request goes on with `after=<next_cursor>`. It is null after the last event.
 */
export const EventPage = Type.Object({
  items: Type.Array(RawEvent),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
})
export type EventPage = Static<typeof EventPage>

export const timeTravelQueries = {
  'GET /api/audit/state/:kind/:id': {
    params: Type.Object({
      kind: Type.Unsafe<StateKind>(Type.Union(STATE_KINDS.map((kind) => Type.Literal(kind)))),
      id: Type.String({ pattern: '^([1-9][0-9]{0,14}|site)$' }),
    }),
    querystring: Type.Object({ at: AtParameter }),
    response: { 200: Envelope(StateAsOf) },
  },
  'GET /api/audit/prices': {
    querystring: Type.Object({
      model: Type.String({ minLength: 1, maxLength: 256 }),
      group: Type.String({ minLength: 1, maxLength: 64 }),
      user_group: Type.Optional(Type.String({ maxLength: 64 })),
      at: AtParameter,
    }),
    response: { 200: Envelope(PricesAsOf) },
  },
  'GET /api/audit/events': {
    querystring: Type.Object({
      stream: Query.text,
      type: Query.text,
      actor: Query.text,
      user_id: Query.integer,
      /** A position or a time in ISO 8601. */
      from: AtParameter,
      to: AtParameter,
      after: Query.integer,
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
    }),
    response: { 200: Envelope(EventPage) },
  },
}
