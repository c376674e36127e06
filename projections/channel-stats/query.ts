import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'
import { quantile } from './histogram-buckets.ts'

/** The statistics of a channel or one of its models over a period. Null means no data. */
export type HealthFigures = {
  readonly successes: number
  readonly failures: number
  /** Quantiles of the duration in milliseconds, accurate to one histogram bucket. */
  readonly latencyMs: { readonly p50: number; readonly p95: number; readonly p99: number } | null
  readonly firstTokenMs: { readonly p50: number; readonly p95: number } | null
  readonly tokensPerSecond: number | null
  /** The number of answers with an implausible usage, model or cost. */
  readonly anomalies: number
}

export type ChannelFigures = HealthFigures & {
  readonly channelId: number
  readonly models: readonly (HealthFigures & { readonly model: string })[]
}

const triesRow = rowType({
  channelId: wireInteger,
  model: Type.String(),
  successes: wireInteger,
  failures: wireInteger,
  outputTokens: wireInteger,
  outputMs: wireInteger,
  anomalies: wireInteger,
})
type TriesRow = RowOf<typeof triesRow>

const spreadRow = rowType({
  channelId: wireInteger,
  model: Type.String(),
  what: Type.Number(),
  bucket: Type.Number(),
  count: wireInteger,
})
type SpreadRow = RowOf<typeof spreadRow>

const LATENCY = 1
const FIRST_TOKEN = 2

/**
 * Reads the statistics since the minute `since` (Unix seconds) for all channels with counted
 * attempts in this period.
 */
export async function figuresSince(
  db: CommonQueryMethods,
  since: number,
): Promise<readonly ChannelFigures[]> {
  const [tries, spread] = await Promise.all([
    db.any(sql.type(triesRow)`
      select channel_id as "channelId", model, sum(successes)::int8 as successes,
        sum(failures)::int8 as failures, sum(output_tokens)::int8 as "outputTokens",
        sum(output_ms)::int8 as "outputMs", sum(anomalies)::int8 as anomalies
      from read_channel_stats.tries where minute >= ${since}
      group by channel_id, model order by channel_id, model
    `),
    db.any(sql.type(spreadRow)`
      select channel_id as "channelId", model, what, bucket, sum(count)::int8 as count
      from read_channel_stats.spread where minute >= ${since}
      group by channel_id, model, what, bucket
    `),
  ])
  const spreadOf = Map.groupBy(spread, ({ channelId }) => channelId)
  return [...Map.groupBy(tries, ({ channelId }) => channelId)].map(([channelId, own]) => {
    const ownSpread = spreadOf.get(channelId) ?? []
    const ofModel = Map.groupBy(ownSpread, ({ model }) => model)
    return {
      channelId,
      ...figuresOf(own, ownSpread),
      models: own.map((row) => ({
        model: row.model,
        ...figuresOf([row], ofModel.get(row.model) ?? []),
      })),
    }
  })
}

const minuteRow = rowType({
  channelId: wireInteger,
  /** The start of the minute in Unix seconds. */
  minute: wireInteger,
  successes: wireInteger,
  failures: wireInteger,
})
export type MinuteRow = RowOf<typeof minuteRow>

/**
 * Reads the numbers of successes and failures in each minute since `since` (Unix seconds), summed
 * over all models. Minutes without attempts are omitted.
 */
export const minutesSince = (
  db: CommonQueryMethods,
  since: number,
): Promise<readonly MinuteRow[]> =>
  db.any(sql.type(minuteRow)`
    select channel_id as "channelId", minute, sum(successes)::int8 as successes,
      sum(failures)::int8 as failures
    from read_channel_stats.tries where minute >= ${since}
    group by channel_id, minute order by channel_id, minute
  `)

const stepTriesRow = rowType({
  /** The start of the time step in Unix seconds. */
  step: wireInteger,
  successes: wireInteger,
  failures: wireInteger,
})

const stepSpreadRow = rowType({
  step: wireInteger,
  what: Type.Number(),
  bucket: Type.Number(),
  count: wireInteger,
})

/** The statistics of one channel in one time step, summed over all models. */
export type ChannelStep = Pick<
  HealthFigures,
  'successes' | 'failures' | 'latencyMs' | 'firstTokenMs'
> & {
  /** The start of the time step in Unix seconds. */
  readonly at: number
}

/**
 * Reads a channel's statistics in steps of `stepSeconds`, oldest first. Steps without attempts are
 * omitted. `from` (inclusive) and `to` (exclusive) are Unix seconds, and `from` is a multiple of
 * the step.
 */
export async function channelSteps(
  db: CommonQueryMethods,
  query: { channelId: number; from: number; to: number; stepSeconds: number },
): Promise<readonly ChannelStep[]> {
  const { channelId, from, to, stepSeconds } = query
  const step = sql.fragment`minute - minute % ${stepSeconds}::int8`
  const range = sql.fragment`channel_id = ${channelId} and minute >= ${from} and minute < ${to}`
  const [tries, spread] = await Promise.all([
    db.any(sql.type(stepTriesRow)`
      select ${step} as step, sum(successes)::int8 as successes, sum(failures)::int8 as failures
      from read_channel_stats.tries where ${range} group by 1 order by 1
    `),
    db.any(sql.type(stepSpreadRow)`
      select ${step} as step, what, bucket, sum(count)::int8 as count
      from read_channel_stats.spread where ${range} group by 1, 2, 3
    `),
  ])
  const spreadOf = Map.groupBy(spread, (row) => row.step)
  return tries.map(({ step: at, successes, failures }) => {
    const { latencyMs, firstTokenMs } = spreadFigures(spreadOf.get(at) ?? [])
    return { at, successes, failures, latencyMs, firstTokenMs }
  })
}

function figuresOf(tries: readonly TriesRow[], spread: readonly SpreadRow[]): HealthFigures {
  const sum = (cellOf: (row: TriesRow) => number): number =>
    tries.reduce((total, row) => total + cellOf(row), 0)
  const outputMs = sum((row) => row.outputMs)
  return {
    successes: sum((row) => row.successes),
    failures: sum((row) => row.failures),
    ...spreadFigures(spread),
    anomalies: sum((row) => row.anomalies),
    tokensPerSecond: outputMs === 0 ? null : (sum((row) => row.outputTokens) / outputMs) * 1_000,
  }
}

type BucketCount = Pick<SpreadRow, 'what' | 'bucket' | 'count'>

function spreadFigures(
  spread: readonly BucketCount[],
): Pick<HealthFigures, 'latencyMs' | 'firstTokenMs'> {
  const latency = countsOf(spread, LATENCY)
  const first = countsOf(spread, FIRST_TOKEN)
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => quantile(latency, share))
  const [first50, first95] = [0.5, 0.95].map((share) => quantile(first, share))
  return {
    latencyMs: p50 == null || p95 == null || p99 == null ? null : { p50, p95, p99 },
    firstTokenMs: first50 == null || first95 == null ? null : { p50: first50, p95: first95 },
  }
}

function countsOf(spread: readonly BucketCount[], measure: number): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { what, bucket, count } of spread) {
    if (what === measure) counts.set(bucket, (counts.get(bucket) ?? 0) + count)
  }
  return counts
}
