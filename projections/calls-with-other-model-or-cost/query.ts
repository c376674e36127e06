import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const mismatch = rowType({
  position: wireInteger,
  createdAt: wireInteger,
  anomaly: Type.String(),
  channelId: wireInteger,
  channelName: Type.String(),
  userId: wireInteger,
  call: Type.String(),
  model: Type.String(),
  sentModel: Type.String(),
  answeredModel: nullable(Type.String()),
})
export type Mismatch = RowOf<typeof mismatch>

type MismatchFilter = {
  readonly anomaly: string
  readonly channelId: number | null
  /** Only calls whose final event is before this position are listed. */
  readonly before: number | null
  readonly limit: number
}

/** Lists calls with an anomaly, newest first. */
export const listMismatches = (
  db: CommonQueryMethods,
  { anomaly, channelId, before, limit }: MismatchFilter,
): Promise<readonly Mismatch[]> => {
  const ofChannel =
    channelId === null ? sql.fragment`true` : sql.fragment`channel_id = ${channelId}`
  const older = before === null ? sql.fragment`true` : sql.fragment`position < ${before}`
  return db.any(sql.type(mismatch)`
    with selected as materialized (
      select * from read_provider_mismatches.calls
      where anomaly = ${anomaly} and ${ofChannel} and ${older}
      order by position desc limit ${limit}
    )
    select s.position, s.created_at as "createdAt", s.anomaly, s.channel_id as "channelId",
      coalesce(c.name, '') as "channelName", s.user_id as "userId", s.call, s.model,
      s.sent_model as "sentModel", s.answered_model as "answeredModel"
    from selected s left join read_channels.channels c on c.id = s.channel_id
    order by s.position desc
  `)
}

const sum = rowType({
  channelId: wireInteger,
  channelName: Type.String(),
  count: wireInteger,
  lastAt: wireInteger,
})
export type MismatchSum = RowOf<typeof sum>

/** Counts the calls with an anomaly by channel, highest counts first. */
export const countMismatches = (
  db: CommonQueryMethods,
  anomaly: string,
): Promise<readonly MismatchSum[]> =>
  db.any(sql.type(sum)`
    select s.channel_id as "channelId", coalesce(c.name, '') as "channelName", s.count,
      coalesce((
        select created_at from read_provider_mismatches.calls m
        where m.channel_id = s.channel_id and m.anomaly = ${anomaly}
        order by m.position desc limit 1
      ), 0) as "lastAt"
    from (
      select channel_id, sum(count)::bigint as count from read_provider_mismatches.sums
      where anomaly = ${anomaly} group by channel_id
    ) s
    left join read_channels.channels c on c.id = s.channel_id
    order by s.count desc, s.channel_id
  `)
