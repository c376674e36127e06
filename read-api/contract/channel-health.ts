import Type, { type Static } from 'typebox'

const Milliseconds = Type.Number()
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** How something did in a period of time. null: there was nothing to tell. */
export const HealthFigures = Type.Object({
  successes: Type.Integer(),
  failures: Type.Integer(),
  latency_ms: orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds, p99: Milliseconds })),
  first_token_ms: orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds })),
  tokens_per_second: orNull(Type.Number()),
  /** Answers whose usage, model or cost can't be as the provider says. */
  anomalies: Type.Integer(),
})
export type HealthFigures = Static<typeof HealthFigures>

/** Of the last 5 minutes, the last hour and the last 24 hours. */
export const HealthWindows = Type.Object({
  m5: orNull(HealthFigures),
  h1: orNull(HealthFigures),
  d1: orNull(HealthFigures),
})
export type HealthWindows = Static<typeof HealthWindows>

export const CircuitState = Type.Object({
  /** null: of the whole channel. */
  model: orNull(Type.String()),
  /** The place of the key it is of, from 0; null: of all. */
  key_index: orNull(Type.Integer()),
  state: Type.Union([Type.Literal('open'), Type.Literal('half-open')]),
  /** A code: `connect`, `timeout`, `status-503`… */
  reason: Type.String(),
  failures: Type.Integer(),
  /** How often it opened since it was closed. */
  round: Type.Integer(),
  /** Unix milliseconds. */
  until: Type.Integer(),
  opened_at: Type.Integer(),
})
export type CircuitState = Static<typeof CircuitState>

export const ChannelHealth = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  tag: Type.String(),
  /** 1 enabled, 2 disabled, 3 auto-disabled. */
  status: Type.Integer(),
  /** A code; empty unless auto-disabled. */
  status_reason: Type.String(),
  /** Unix seconds. */
  status_time: Type.Integer(),
  /** Calls with it just now, over all relays; null: no relay says. */
  in_flight: orNull(Type.Integer()),
  /** 0: no limit, as `max_rpm`. */
  max_concurrency: Type.Integer(),
  max_rpm: Type.Integer(),
  /** US dollars; null: never read. */
  balance: orNull(Type.Number()),
  balance_updated_time: Type.Integer(),
  /** It alone offers some model to some group, so that the gateway never turns it off itself. */
  is_last: Type.Boolean(),
  circuits: Type.Array(CircuitState),
  figures: HealthWindows,
  /** Each model it offers or was called by in the last 24 hours, as callers name it. */
  models: Type.Array(Type.Object({ model: Type.String(), figures: HealthWindows })),
  /** Of the last hour, those with tries: its beginning (unix seconds), successes, failures. */
  minutes: Type.Array(Type.Tuple([Type.Integer(), Type.Integer(), Type.Integer()])),
})
export type ChannelHealth = Static<typeof ChannelHealth>

export const HealthSnapshot = Type.Object({
  /** Unix milliseconds, by the servers' clock. */
  at: Type.Integer(),
  channels: Type.Array(ChannelHealth),
})
export type HealthSnapshot = Static<typeof HealthSnapshot>

/** What changed since the last: channels as they now are, and those that are gone. */
export type HealthPush = {
  readonly kind: 'health'
  readonly at: number
  readonly channels: ChannelHealth[]
  readonly removed: number[]
}
