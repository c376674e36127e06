import Type, { type Static } from 'typebox'
import { Envelope, IdParams } from './envelope.ts'

const Milliseconds = Type.Number()
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** The figures of a period of time. null: there is no data. */
export const HealthFigures = Type.Object({
  successes: Type.Integer(),
  failures: Type.Integer(),
  latency_ms: orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds, p99: Milliseconds })),
  first_token_ms: orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds })),
  tokens_per_second: orNull(Type.Number()),
  /** Responses whose usage, model or cost cannot be as the provider reported. */
  anomalies: Type.Integer(),
})
export type HealthFigures = Static<typeof HealthFigures>

/** The figures of the last 5 minutes, the last hour and the last 24 hours. */
export const HealthWindows = Type.Object({
  m5: orNull(HealthFigures),
  h1: orNull(HealthFigures),
  d1: orNull(HealthFigures),
})
export type HealthWindows = Static<typeof HealthWindows>

export const CircuitState = Type.Object({
  /** null: the circuit of the whole channel. */
  model: orNull(Type.String()),
  /** The index (from 0) of the key that the circuit belongs to; null: all keys. */
  key_index: orNull(Type.Integer()),
  state: Type.Union([Type.Literal('open'), Type.Literal('half-open')]),
  /** A code: `connect`, `timeout`, `status-503`… */
  reason: Type.String(),
  failures: Type.Integer(),
  /** The number of times that it has opened since it was last closed. */
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
  /** The calls in flight across all relays; null if no relay reports. */
  in_flight: orNull(Type.Integer()),
  /** 0 means no limit, also for `max_rpm`. */
  max_concurrency: Type.Integer(),
  max_rpm: Type.Integer(),
  /** US dollars; null if it was never read. */
  balance: orNull(Type.Number()),
  balance_updated_time: Type.Integer(),
  /**
   * True if it is the only channel that offers some model to some group; the gateway never disables
   * it automatically then.
   */
  is_last: Type.Boolean(),
  circuits: Type.Array(CircuitState),
  figures: HealthWindows,
  /** The models that it offers or was called with in the last 24 hours, by the callers' names. */
  models: Type.Array(Type.Object({ model: Type.String(), figures: HealthWindows })),
  /** The minutes of the last hour with attempts: start (Unix seconds), successes, failures. */
  minutes: Type.Array(Type.Tuple([Type.Integer(), Type.Integer(), Type.Integer()])),
})
export type ChannelHealth = Static<typeof ChannelHealth>

export const HealthSnapshot = Type.Object({
  /** Unix milliseconds by the server's clock. */
  at: Type.Integer(),
  channels: Type.Array(ChannelHealth),
})
export type HealthSnapshot = Static<typeof HealthSnapshot>

/** The changes since the last push: channels in their new state, and removed channels. */
export type HealthPush = {
  readonly kind: 'health'
  readonly at: number
  readonly channels: ChannelHealth[]
  readonly removed: number[]
}

const Percentiles = orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds }))

export const HISTORY_RANGES = ['1h', '24h', '7d'] as const
export type HistoryRange = (typeof HISTORY_RANGES)[number]

/** One time step. Without conclusive calls both counts are 0 and the rest is null. */
export const HealthHistoryPoint = Type.Object({
  /** The start of the step in Unix seconds. */
  at: Type.Integer(),
  successes: Type.Integer(),
  failures: Type.Integer(),
  latency_ms: Percentiles,
  first_token_ms: Percentiles,
})
export type HealthHistoryPoint = Static<typeof HealthHistoryPoint>

export const HealthHistory = Type.Object({
  range: Type.Unsafe<HistoryRange>(Type.Union(HISTORY_RANGES.map((range) => Type.Literal(range)))),
  /** The length of a step in seconds. */
  step: Type.Integer(),
  /** All steps of the range, oldest first; the last one is still in progress. */
  points: Type.Array(HealthHistoryPoint),
})
export type HealthHistory = Static<typeof HealthHistory>

const HistoryQuery = Type.Object({
  range: Type.Optional(
    Type.Unsafe<HistoryRange>(Type.Union(HISTORY_RANGES.map((range) => Type.Literal(range)))),
  ),
})

export const healthQueries = {
  'GET /api/channel/:id/health_history': {
    summary: 'Get successes, failures and latency of a channel over time',
    params: IdParams,
    querystring: HistoryQuery,
    response: { 200: Envelope(HealthHistory) },
  },
  'GET /api/channel/health': {
    summary:
      'Get the health of every channel: circuits, successes, latency, speed, calls in flight',
    response: { 200: Envelope(HealthSnapshot) },
  },
}
