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
import type { LogSort } from '#read-api/contract/logs.ts'
import { type ListOrder, orderTerms, type Slice, SORT_WINDOW } from '../list-paging-and-sorting.ts'
import { CONSUMPTION } from './log-row-of-event.ts'
import {
  accessOf,
  type LogFilter,
  type LogRow,
  logOf,
  matching,
  named,
  narrowLogOf,
} from './select-log-rows.ts'

export { type ListOrder, SORT_WINDOW } from '../list-paging-and-sorting.ts'
export { logBatches } from './read-log-batches-for-export.ts'
export type { LogFilter, LogRow } from './select-log-rows.ts'

/**
 * Reads a number from the details of a row, or -1 if the details have no such number. NOTE: a
 * regular expression is used, because Postgres cannot parse JSON that contains a NUL character.
 */
const numberInDetails = (name: 'model_ratio' | 'frt') => sql.fragment`
  coalesce(substring(w.other from ${`"${name}":([-+.0-9eE]+)`})::numeric, -1)
`

/** The sort columns of log rows `w`. A sort by time uses the row id, because ids grow with time. */
const SORT_COLUMNS = {
  created_at: sql.fragment`w.id`,
  type: sql.fragment`w.type`,
  username: sql.fragment`
    (select lower(u.username) from read_users.users u where u.id = w.user_id)
  `,
  token_name: sql.fragment`
    (select lower(t.name) from read_tokens.tokens t where t.id = w.token_id)
  `,
  channel: sql.fragment`w.channel_id`,
  model_name: sql.fragment`lower(w.model)`,
  group: sql.fragment`w.call_group`,
  prompt_tokens: sql.fragment`w.prompt_tokens`,
  completion_tokens: sql.fragment`w.completion_tokens`,
  quota: sql.fragment`w.quota`,
  use_time: sql.fragment`w.duration_ms`,
  ratios: numberInDetails('model_ratio'),
  // Only streams that did not fail have a first token.
  first_token: sql.fragment`
    case when w.is_stream and w.type <> 6 then ${numberInDetails('frt')} else -1 end
  `,
  retries: sql.fragment`
    coalesce(cardinality(string_to_array(
      substring(w.admin_other from '"use_channel":\\[([0-9,]*)\\]'), ','
    )), 0)
  `,
} satisfies Record<LogSort, unknown>

/**
 * Reads log rows sorted by a column. Rows with the same value are returned newest first. Only the
 * newest `SORT_WINDOW` rows with ids below `before` are sorted.
 */
export const sortedLogRows = async (
  db: CommonQueryMethods,
  filter: LogFilter,
  slice: Slice & ListOrder<LogSort> & { readonly before: number },
): Promise<readonly LogRow[]> => {
  const { before, limit, offset } = slice
  const log = logOf(filter, await accessOf(db, filter))
  // Only ids and sort columns are sorted, because complete rows are long.
  return db.any(
    named(
      sql.fragment`
        select l.*, place from (
          select w.id, w.created_at, row_number() over (
            order by ${orderTerms(SORT_COLUMNS, slice, sql.fragment`w.id`)}
          ) as place
          from (
            select * from ${log} where ${matching(filter)} and id < ${before}
            order by id desc limit ${SORT_WINDOW}
          ) w
          order by place limit ${limit} offset ${offset}
        ) found
        join read_call_log.log l on l.id = found.id and l.created_at = found.created_at`,
      sql.fragment`l.place`,
    ),
  )
}

/** Returns the id of the newest row that matches, or 0. */
export async function newestLogId(db: CommonQueryMethods, filter: LogFilter): Promise<number> {
  const log = narrowLogOf(filter, await accessOf(db, filter))
  const id = await db.maybeOneFirst(sql.type(rowType({ id: wireInteger }))`
    select id from ${log} where ${matching(filter)} order by id desc limit 1
  `)
  return id ?? 0
}

/** Reads log rows with ids below `before`, newest first. */
export const logRows = async (
  db: CommonQueryMethods,
  filter: LogFilter,
  slice: { readonly before?: number; readonly offset: number; readonly limit: number },
): Promise<readonly LogRow[]> => {
  const access = await accessOf(db, filter)
  const below = slice.before === undefined ? sql.fragment`true` : sql.fragment`id < ${slice.before}`
  // The offset is applied in the index. This is faster than reading the complete rows before the
  // offset.
  const start =
    slice.offset === 0
      ? sql.fragment`true`
      : sql.fragment`id <= (
          select id from ${narrowLogOf(filter, access)} where ${matching(filter)} and ${below}
          order by id desc limit 1 offset ${slice.offset})`
  return db.any(
    named(
      sql.fragment`
        select * from ${logOf(filter, access)}
        where ${matching(filter)} and ${below} and ${start}
        order by id desc limit ${slice.limit}`,
      sql.fragment`l.id desc`,
    ),
  )
}

/** Reads log rows with ids above `after` and up to `upTo`, oldest first. */
export const logRowsAfter = (
  db: CommonQueryMethods,
  filter: LogFilter,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<readonly LogRow[]> =>
  db.any(
    named(
      sql.fragment`
        select * from ${logOf(filter)}
        where ${matching(filter)} and id > ${after} and id <= ${upTo}
        order by id limit ${limit}`,
      sql.fragment`l.id`,
    ),
  )

/**
 * Lists up to `limit` token ids (negative numbers) of users who called from the playground, with
 * one index lookup per user.
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

/**
 * Sums the log rows themselves. This function is needed for filters that the stored sums by hour
 * and day do not support. As in the stored sums, the quota of charged calls includes the changes
 * that corrections made to charges.
 */
export const sumLogRows = (db: CommonQueryMethods, filter: LogFilter): Promise<LogSums> =>
  db.one(sql.type(logSums)`
    select count(*) as count,
      (coalesce(sum(quota), 0) + ${changesByCorrections(filter)})::text as quota,
      coalesce(sum(prompt_tokens), 0)::text as "promptTokens",
      coalesce(sum(completion_tokens), 0)::text as "completionTokens"
    from ${narrowLogOf(filter, 'by-planner')} where ${matching(filter)}
  `)

/**
 * The SQL expression for the sum of the changes that corrections made to charges. A change counts
 * at the time of the correction, with the user, model, token, channel and group of its call.
 */
function changesByCorrections({ type, failedChannelId, ...filter }: LogFilter) {
  if (type !== undefined && type !== CONSUMPTION) return sql.fragment`0`
  const ofFailedCalls =
    failedChannelId === undefined
      ? sql.fragment`true`
      : sql.fragment`exists (
          select from read_call_log.log l
            join read_call_log.failed_calls failed on failed.id = l.id
          where l.request_id = corrected.request_id and failed.channel_id = ${failedChannelId}
        )`
  return sql.fragment`(
    select coalesce(sum(amount), 0) from (
      select *, call as request_id, corrected - charge as amount from read_corrected_calls.calls
    ) corrected
    where ${matching(filter)} and ${ofFailedCalls}
  )`
}

const otherText = converted(Type.String(), (text) => JSON.parse(text) as LoggedOther)
type LoggedOther = {
  readonly price?: Readonly<Record<string, string>>
  readonly batch_lines_billed?: number
  readonly image_factor?: string
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
      /** The user's group at the admission of the call. */
      userGroup: other.price?.userGroup ?? row.group,
      usage: { ...NO_USAGE, ...usage } as Usage,
      /**
       * The number by which a price per call is multiplied. If the number is absent, it is derived
       * from the usage (see `chargeFor`).
       */
      calls,
      imageFactor: other.price?.imageFactor ?? other.image_factor,
      video: videoIn(other.price ?? {}),
      soundRatio: soundIn(other.price ?? {}),
      batchLines: other.batch_lines_billed,
    }
  },
)

const FACTOR = 'factor_'

/** Returns the unit and the ratios of a video's price, or undefined if the price has neither. */
function videoIn(price: Readonly<Record<string, string>>) {
  const factors = Object.entries(price)
    .filter(([key]) => key.startsWith(FACTOR))
    .map(([key, ratio]) => ({ name: key.slice(FACTOR.length), ratio }))
  if (factors.length === 0 && price.per !== 'second') return undefined
  return { factors, ...(price.per === 'second' ? { per: 'second' as const } : {}) }
}

/**
 * Returns the ratio of a video's sound at its price per token, or null if this price does not
 * depend on the sound. Returns undefined for any other price.
 */
const soundIn = (price: Readonly<Record<string, string>>): string | null | undefined =>
  price.mode === 'tokens' ? (price.condition_audio ?? null) : undefined

export type ChargedCall = RowOf<typeof chargedCall>

/**
 * Reads charged calls between `from` and `to` (Unix seconds, inclusive) with ids above `after`, in
 * ascending order. `quota` is the charge after all corrections so far.
 */
export const chargedCalls = (
  db: CommonQueryMethods,
  { from, to, after, limit }: { from: number; to: number; after: number; limit: number },
): Promise<readonly ChargedCall[]> =>
  db.any(sql.type(chargedCall)`
    select id, user_id as "userId", model, call_group as "group", other,
      coalesce((
        select corrected from read_corrected_calls.calls c where c.call = request_id
        order by c.position desc limit 1
      ), quota) as quota
    from read_call_log.log
    where type = 2 and created_at >= ${from} and created_at <= ${to} and id > ${after}
    order by id limit ${limit}
  `)

/**
 * Lists the users with charged calls of a model from `from` to `to` (Unix seconds, both included)
 * whose log rows have ids up to `upTo`. The user ids are in ascending order.
 */
export const chargedUsers = (
  db: CommonQueryMethods,
  { model, from, to, upTo }: { model: string; from: number; to: number; upTo: number },
): Promise<readonly number[]> =>
  db.anyFirst(sql.type(rowType({ id: wireInteger }))`
    select distinct user_id as id from read_call_log.log
    where type = 2 and model = ${model} and id <= ${upTo}
      and created_at >= ${from} and created_at <= ${to}
    order by id
  `)
