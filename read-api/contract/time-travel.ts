import Type, { type Static } from 'typebox'
import { PriceInForce } from './calls.ts'
import { EVENT_FIELDS } from './receipts.ts'
import { Query } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

/**
 * A moment in the history: the position of an event (only digits) or a time in ISO 8601. If the
 * parameter is absent, the moment is the present.
 */
export const AtParameter = Type.Optional(Type.String({ maxLength: 40 }))

const AsOf = {
  /** The position of the last event that the result includes. 0 if there is no event. */
  position: Type.Integer(),
  /**
   * The time of the last event that the result includes, in Unix seconds. 0 if there is no event.
   */
  at: Type.Integer(),
}

export const STATE_KINDS = ['token', 'channel', 'user', 'options', 'prices'] as const
export type StateKind = (typeof STATE_KINDS)[number]

/** The state of one object at a moment. A secret that is set is shown as `***`. */
export const StateAsOf = Type.Object({
  ...AsOf,
  kind: Type.Unsafe<StateKind>(Type.Union(STATE_KINDS.map((kind) => Type.Literal(kind)))),
  id: Type.String(),
  /**
   * The state with its members in snake case, or the options by their keys. Null if the object did
   * not exist at the moment. If the object has never existed, the response is a 404.
   */
  state: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  /**
   * For options and prices: the built-in values of the options in `state`. The first change of an
   * option replaces its built-in value.
   */
  built_in: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** True if the object had been deleted at the moment. */
  is_deleted: Type.Boolean(),
  /** The last change of the object up to the moment. Null if there is none. */
  last_change: Type.Union([
    Type.Object({
      position: Type.Integer(),
      revision: Type.Integer(),
      type: Type.String(),
      created_at: Type.Integer(),
      actor: Type.String(),
      /** The name of the user who made the change. Empty for erased users and for the site. */
      actor_name: Type.String(),
    }),
    Type.Null(),
  ]),
})
export type StateAsOf = Static<typeof StateAsOf>

/**
 * The price of a model for a group at a moment, and the option entries from which the price is
 * computed.
 */
export const PricesAsOf = Type.Object({
  ...AsOf,
  model: Type.String(),
  group: Type.String(),
  /** The price at which calls would have been charged, or null if the model had no price. */
  price: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  in_force: Type.Array(PriceInForce),
})
export type PricesAsOf = Static<typeof PricesAsOf>

/** An event as it is stored. Personal texts stay encrypted. */
export const RawEvent = Type.Object({
  ...EVENT_FIELDS,
  data: Type.Record(Type.String(), Type.Unknown()),
})
export type RawEvent = Static<typeof RawEvent>

/**
 * A page of events in the order of their positions. One request reads a limited number of events. A
 * page may therefore have fewer than `limit` items, or no items, although more items follow.
 * `next_cursor` is the value of `after` for the next request. `next_cursor` is null if no more
 * events follow. EventStoreDB leaves gaps between positions. There, `after` must be the position of
 * an event, unless the query names a stream or a user.
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
      /** The start of the range: a position or a time in ISO 8601. */
      from: AtParameter,
      to: AtParameter,
      after: Query.integer,
      limit: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' })),
    }),
    response: { 200: Envelope(EventPage) },
  },
}
