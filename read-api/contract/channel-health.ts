import Type, { type Static } from 'typebox'
import { Envelope, IdParams } from './response-envelope.ts'

const Milliseconds = Type.Number()
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** The success counts and latencies of a period. A value is null if there is no data for it. */
export const HealthFigures = Type.Object({
  successes: Type.Integer(),
  failures: Type.Integer(),
  latency_ms: orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds, p99: Milliseconds })),
  first_token_ms: orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds })),
  tokens_per_second: orNull(Type.Number()),
  /** The number of responses whose reported usage, model or cost is implausible. */
  anomalies: Type.Integer(),
})
export type HealthFigures = Static<typeof HealthFigures>

/** The health figures for the last 5 minutes, the last hour and the last 24 hours. */
export const HealthWindows = Type.Object({
  m5: orNull(HealthFigures),
  h1: orNull(HealthFigures),
  d1: orNull(HealthFigures),
})
export type HealthWindows = Static<typeof HealthWindows>

export const CircuitState = Type.Object({
  /** The model that the circuit covers. It is null if the circuit covers all models. */
  model: orNull(Type.String()),
  /**
   * The index (from 0) of the key that the circuit covers. It is null if the circuit covers all
   * keys.
   */
  key_index: orNull(Type.Integer()),
  state: Type.Union([Type.Literal('open'), Type.Literal('half-open')]),
  /** The error code that opened the circuit: `connect`, `timeout`, `status-503`… */
  reason: Type.String(),
  failures: Type.Integer(),
  /** The number of times that the circuit has opened since it was last closed. */
  round: Type.Integer(),
  /**
   * The time until which calls avoid the channel, model or key of the circuit, in Unix
   * milliseconds.
   */
  until: Type.Integer(),
  opened_at: Type.Integer(),
})
export type CircuitState = Static<typeof CircuitState>

export const ChannelHealth = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  tag: Type.String(),
  /** The status of the channel: 1 is enabled, 2 disabled, 3 automatically disabled. */
  status: Type.Integer(),
  /**
   * The code of the reason for which the channel was automatically disabled. It is empty for a
   * channel with another status.
   */
  status_reason: Type.String(),
  /** The time at which the status changed, in Unix seconds. */
  status_time: Type.Integer(),
  /**
   * The number of calls in flight, summed over all relay processes. It is null if no process
   * reports it.
   */
  in_flight: orNull(Type.Integer()),
  /**
   * The maximum number of simultaneous calls. `max_rpm` is the maximum number of calls per minute.
   * 0 means no limit.
   */
  max_concurrency: Type.Integer(),
  max_rpm: Type.Integer(),
  /** The channel's balance in US dollars. It is null if the balance was never read. */
  balance: orNull(Type.Number()),
  balance_updated_time: Type.Integer(),
  /**
   * True if no other channel offers some model to some group. The gateway never disables such a
   * channel automatically.
   */
  is_last: Type.Boolean(),
  circuits: Type.Array(CircuitState),
  figures: HealthWindows,
  /**
   * The models that the channel offers, and the models with which it was called in the last 24
   * hours.
   */
  models: Type.Array(Type.Object({ model: Type.String(), figures: HealthWindows })),
  /**
   * The minutes of the last hour in which there were attempts. Each element contains the start of
   * the minute (Unix seconds), the number of successes and the number of failures.
   */
  minutes: Type.Array(Type.Tuple([Type.Integer(), Type.Integer(), Type.Integer()])),
})
export type ChannelHealth = Static<typeof ChannelHealth>

export const HealthSnapshot = Type.Object({
  /** The time of the server in Unix milliseconds. */
  at: Type.Integer(),
  channels: Type.Array(ChannelHealth),
})
export type HealthSnapshot = Static<typeof HealthSnapshot>

/**
 * The changes of the health since the last message. `removed` contains the ids of channels that no
 * longer exist.
 */
export type HealthPush = {
  readonly kind: 'health'
  readonly at: number
  readonly channels: ChannelHealth[]
  readonly removed: number[]
}

const Percentiles = orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds }))

export const HISTORY_RANGES = ['1h', '24h', '7d'] as const
export type HistoryRange = (typeof HISTORY_RANGES)[number]

/**
 * The figures of one time step. Without any attempt in the step, both counts are 0 and all other
 * figures are null.
 */
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
  /** The length of a time step in seconds. */
  step: Type.Integer(),
  /** All time steps of the range, oldest first. The last step has not ended yet. */
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
