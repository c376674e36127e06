import Type, { type Static } from 'typebox'

const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const Milliseconds = Type.Number()
const Percentiles = orNull(Type.Object({ p50: Milliseconds, p95: Milliseconds }))

export const HISTORY_RANGES = ['1h', '24h', '7d'] as const
export type HistoryRange = (typeof HISTORY_RANGES)[number]

/** One step of time. Without calls that tell something, both counts are 0 and the rest is null. */
export const HealthHistoryPoint = Type.Object({
  /** Unix seconds: when the step begins. */
  at: Type.Integer(),
  successes: Type.Integer(),
  failures: Type.Integer(),
  latency_ms: Percentiles,
  first_token_ms: Percentiles,
})
export type HealthHistoryPoint = Static<typeof HealthHistoryPoint>

export const HealthHistory = Type.Object({
  range: Type.Unsafe<HistoryRange>(Type.Union(HISTORY_RANGES.map((range) => Type.Literal(range)))),
  /** Seconds of each step. */
  step: Type.Integer(),
  /** Every step of the range, oldest first; the last one is still under way. */
  points: Type.Array(HealthHistoryPoint),
})
export type HealthHistory = Static<typeof HealthHistory>
