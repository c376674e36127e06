import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const channelCheck = rowType({
  channelId: wireInteger,
  model: Type.String(),
  isSuccess: Type.Boolean(),
  /** The error code of the last test. Empty if the test succeeded. */
  reason: Type.String(),
  /** The duration of the last successful test in milliseconds, or 0. */
  responseTime: wireInteger,
  /**
   * The times of the last test (`testTime`) and of the last balance query, in Unix seconds, or 0.
   */
  testTime: wireInteger,
  /** The balance in US dollars, as decimal text. */
  balance: Type.String(),
  balanceUpdatedTime: wireInteger,
  changedPosition: wireInteger,
})
export type ChannelCheck = RowOf<typeof channelCheck>

const selected = sql.fragment`
  select
    channel_id as "channelId", model, is_success as "isSuccess", reason,
    response_time as "responseTime", test_time as "testTime", balance::text as balance,
    balance_updated_time as "balanceUpdatedTime", changed_position as "changedPosition"
  from read_channel_checks.checks
`

/**
 * Reads the results of the channels that were checked at event positions above `after` and up to
 * `upTo`.
 */
export const changedChecks = (
  db: CommonQueryMethods,
  { after, upTo }: { after: number; upTo: number },
): Promise<readonly ChannelCheck[]> =>
  db.any(sql.type(channelCheck)`
    ${selected} where changed_position > ${after} and changed_position <= ${upTo}
    order by changed_position
  `)

const runResult = rowType({
  channelId: wireInteger,
  name: Type.String(),
  model: Type.String(),
  /** The error code of the test, or empty if the test succeeded. */
  reason: Type.String(),
  durationMs: wireInteger,
})
export type RunResult = RowOf<typeof runResult>

/**
 * Reads the results of one test of all channels, failed tests first. Deleted channels are omitted,
 * and so are results that a later test of all channels has replaced.
 */
export const runResults = (db: CommonQueryMethods, run: string): Promise<readonly RunResult[]> =>
  db.any(sql.type(runResult)`
    select t.channel_id as "channelId", c.name, t.run_model as model, t.run_reason as reason,
      t.run_duration as "durationMs"
    from read_channel_checks.checks t join read_channels.channels c on c.id = t.channel_id
    where t.run = ${run} and not c.is_deleted
    order by t.run_reason = '', t.run_duration desc, t.channel_id
  `)

const testRun = rowType({
  run: Type.String(),
  total: wireInteger,
  tested: wireInteger,
  failed: wireInteger,
  /**
   * The start and end of the run in Unix seconds. `endedTime` is 0 while the run is in progress.
   */
  startedTime: wireInteger,
  endedTime: wireInteger,
  startedPosition: wireInteger,
  endedPosition: wireInteger,
})
export type TestRun = RowOf<typeof testRun>

/**
 * Reads the latest test of all channels, even if it is still running. Returns null if there was
 * none.
 */
export const latestTestRun = (db: CommonQueryMethods): Promise<TestRun | null> =>
  db.maybeOne(sql.type(testRun)`
    select run, total, tested, failed, started_time as "startedTime", ended_time as "endedTime",
      started_position as "startedPosition", ended_position as "endedPosition"
    from read_channel_checks.runs where started_position > 0
    order by started_position desc limit 1
  `)
