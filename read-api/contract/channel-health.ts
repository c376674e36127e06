import Type, { type Static } from 'typebox'
import { IdParams } from './request-parameters.ts'
import { Envelope } from './response-envelope.ts'

const Milliseconds = Type.Number()
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/**
 * The numbers of successes, failures and anomalies in a period, the latencies and the output speed.
 * Null means that there is no data.
 */
export const HealthFigures = Type.Object({
  successes: Type.Integer(),
  failures: Type.Integer(),
  latency_ms: orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds, p99: Milliseconds })),
  first_token_ms: orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds })),
  tokens_per_second: orNull(Type.Number()),
  /** The number of responses whose usage, model or cost was implausible. */
  anomalies: Type.Integer(),
})
export type HealthFigures = Static<typeof HealthFigures>

/**
 * The figures of the last 5 minutes, the last hour and the last 24 hours. Null means that there is
 * no data.
 */
export const HealthWindows = Type.Object({
  m5: orNull(HealthFigures),
  h1: orNull(HealthFigures),
  d1: orNull(HealthFigures),
})
export type HealthWindows = Static<typeof HealthWindows>

export const CircuitState = Type.Object({
  /** The model to which the circuit applies, or null for all models. */
  model: orNull(Type.String()),
  /**
   * The index (from 0) of the key to which the circuit applies. Null means all keys, or a key that
   * the channel no longer has.
   */
  key_index: orNull(Type.Integer()),
  state: Type.Union([Type.Literal('open'), Type.Literal('half-open')]),
  /**
   * The code of the error that opened the circuit, such as `connect`, `timeout` or `status-503`.
   */
  reason: Type.String(),
  failures: Type.Integer(),
  /** The number of times that the circuit has opened since it was last closed. */
  round: Type.Integer(),
  /**
   * The end of the circuit's pause in Unix milliseconds. Until this time, calls avoid the channel,
   * model or key of the circuit.
   */
  until: Type.Integer(),
  opened_at: Type.Integer(),
})
export type CircuitState = Static<typeof CircuitState>

export const ChannelHealth = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  tag: Type.String(),
  /** 1 is enabled, 2 disabled, 3 automatically disabled. */
  status: Type.Integer(),
  /** The reason why the channel was automatically disabled. Empty if there is no reason. */
  status_reason: Type.String(),
  /** The time at which the status changed, in Unix seconds. */
  status_time: Type.Integer(),
  /**
   * The number of running calls in all relay processes, or null if no process reports this number.
   */
  in_flight: orNull(Type.Integer()),
  /**
   * The maximum number of simultaneous calls. 0 means no limit. `max_rpm` limits the calls per
   * minute in the same way.
   */
  max_concurrency: Type.Integer(),
  max_rpm: Type.Integer(),
  /** The balance at the provider in US dollars, or null if the balance was never read. */
  balance: orNull(Type.Number()),
  balance_updated_time: Type.Integer(),
  /**
   * True if this channel is the only enabled channel that offers one of its models to one of its
   * groups. The gateway does not disable such a channel automatically.
   */
  is_last: Type.Boolean(),
  circuits: Type.Array(CircuitState),
  figures: HealthWindows,
  /**
   * The figures by model. The list has all models of the channel, and all models that were called
   * in the last 24 hours.
   */
  models: Type.Array(Type.Object({ model: Type.String(), figures: HealthWindows })),
  /**
   * The minutes of the last hour with at least one attempt. Each tuple has the start of the minute
   * (Unix seconds), the number of successes and the number of failures.
   */
  minutes: Type.Array(Type.Tuple([Type.Integer(), Type.Integer(), Type.Integer()])),
})
export type ChannelHealth = Static<typeof ChannelHealth>

export const HealthSnapshot = Type.Object({
  /** The server's time in Unix milliseconds. */
  at: Type.Integer(),
  channels: Type.Array(ChannelHealth),
})
export type HealthSnapshot = Static<typeof HealthSnapshot>

/**
 * A live message with the channels whose health has changed since the previous message. `removed`
 * are the ids of channels that no longer exist.
 */
export type HealthPush = {
  readonly kind: 'health'
  readonly at: number
  readonly channels: ChannelHealth[]
  readonly removed: number[]
}

const Percentiles = orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds }))

const HISTORY_RANGES = ['1h', '24h', '7d'] as const
export type HistoryRange = (typeof HISTORY_RANGES)[number]

/**
 * The figures of one time step. If there was no attempt, both counts are 0, and `latency_ms` and
 * `first_token_ms` are null.
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
