import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import {
  converted,
  countSum,
  quota,
  quotaSum,
  type RowOf,
  rowType,
  wireInteger,
} from '#infra/postgres/row-types.ts'
import { type LogFilter, type LogRow, matching, named } from './rows.ts'

export { logBatches } from './log-batch.ts'
export type { LogFilter, LogRow } from './rows.ts'

/** Reads rows newest first, below `before` (a row's id) when it is given. */
export const logRows = (
  db: CommonQueryMethods,
  filter: LogFilter,
  slice: { readonly before?: number; readonly offset: number; readonly limit: number },
): Promise<readonly LogRow[]> => {
  const below = slice.before === undefined ? sql.fragment`true` : sql.fragment`id < ${slice.before}`
  // The offset is skipped in an index, because the rows themselves are long.
  const start =
    slice.offset === 0
      ? sql.fragment`true`
      : sql.fragment`id <= (
          select id from read_call_log.log where ${matching(filter)} and ${below}
          order by id desc limit 1 offset ${slice.offset})`
  return db.any(
    named(
      sql.fragment`
        select * from read_call_log.log where ${matching(filter)} and ${below} and ${start}
        order by id desc limit ${slice.limit}`,
      sql.fragment`desc`,
    ),
  )
}

/** Reads rows after one position and up to another, oldest first, as the live socket sends them. */
export const logRowsAfter = (
  db: CommonQueryMethods,
  filter: LogFilter,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<readonly LogRow[]> =>
  db.any(
    named(
      sql.fragment`
        select * from read_call_log.log
        where ${matching(filter)} and id > ${after} and id <= ${upTo}
        order by id limit ${limit}`,
      sql.fragment`asc`,
    ),
  )

/**
 * Lists the users whose calls came from the playground, up to `limit`. The query jumps through an
 * index.
 */
export const playgroundIds = (db: CommonQueryMethods, limit: number): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    with recursive callers as (
      (select max(token_id) as id from read_call_log.log where token_id < 0)
      union all
      select (select max(token_id) from read_call_log.log where token_id < callers.id)
      from callers where callers.id is not null
    )
    select id from callers where id is not null limit ${limit}
  `)

const logSums = rowType({
  count: wireInteger,
  quota: quotaSum,
  promptTokens: countSum,
  completionTokens: countSum,
})
export type LogSums = RowOf<typeof logSums>

/** Sums the rows themselves, for filters that the rollups cannot answer. */
export const sumLogRows = (db: CommonQueryMethods, filter: LogFilter): Promise<LogSums> =>
  db.one(sql.type(logSums)`
    select count(*) as count, coalesce(sum(quota), 0)::text as quota,
      coalesce(sum(prompt_tokens), 0)::text as "promptTokens",
      coalesce(sum(completion_tokens), 0)::text as "completionTokens"
    from read_call_log.log where ${matching(filter)}
  `)

const otherText = converted(Type.String(), (text) => JSON.parse(text) as LoggedOther)
type LoggedOther = {
  readonly price?: { readonly userGroup?: string }
  readonly usage?: Partial<Usage> & { readonly calls?: number }
}

const chargedCall = rowType(
  {
    id: wireInteger,
    userId: wireInteger,
    model: Type.String(),
    group: Type.String(),
    quota,
    other: otherText,
  },
  ({ other, ...row }) => {
    const { calls, ...usage } = other.usage ?? {}
    return {
      ...row,
      /** The user's group when the call was admitted. */
      userGroup: other.price?.userGroup ?? row.group,
      usage: { ...NO_USAGE, ...usage } as Usage,
      /** Left out when the usage alone determines the charge: see `chargeFor`. */
      calls,
    }
  },
)
export type ChargedCall = RowOf<typeof chargedCall>

/** Reads charges within a range of seconds (both ends included), by id, after the id `after`. */
export const chargedCalls = (
  db: CommonQueryMethods,
  { from, to, after, limit }: { from: number; to: number; after: number; limit: number },
): Promise<readonly ChargedCall[]> =>
  db.any(sql.type(chargedCall)`
    select id, user_id as "userId", model, call_group as "group", quota, other
    from read_call_log.log
    where type = 2 and created_at >= ${from} and created_at <= ${to} and id > ${after}
    order by id limit ${limit}
  `)
