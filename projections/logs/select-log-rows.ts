import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { PLAYGROUND_NAME } from '#domain/shared/playground-token-id.ts'
import {
  encryptedText,
  nullable,
  quota,
  type RowOf,
  rowType,
  wireInteger,
} from '#infra/postgres/row-types.ts'
import { LOG_FIELDS } from '#read-api/contract/logs.ts'
import { fieldColumns, selectedFields } from '../resource-field-columns.ts'
import { requestIdCondition } from './filter-by-request-id.ts'

const logRow = rowType({
  ...fieldColumns(LOG_FIELDS),
  /** A bigint, so that an export computes exact amounts. */
  quota,
  durationMs: wireInteger,
  /** A code that the reader translates (see `rowOf`). */
  reason: Type.String(),
  /** True if the user allows complete IP addresses to be shown. */
  showsIp: Type.Boolean(),
  /** The admin who made the change, or 0. `note` is the encrypted reason for the change. */
  actorId: wireInteger,
  actorName: Type.String(),
  note: encryptedText,
  /** The details for admins, as JSON text. */
  adminOther: Type.String(),
  /** The channels whose attempts failed, as a JSON array for admins, or null. */
  failedChannels: nullable(Type.String()),
})
export type LogRow = RowOf<typeof logRow>

/**
 * A filter of log rows. An absent field does not restrict the rows. `from` and `to` are Unix
 * seconds, inclusive.
 */
export type LogFilter = {
  readonly userId?: number
  readonly type?: number
  readonly model?: string
  readonly group?: string
  readonly channelId?: number
  /**
   * A channel on which an attempt failed. Another channel may have answered the call afterwards.
   */
  readonly failedChannelId?: number
  readonly tokenIds?: readonly number[]
  /** A complete request id or a prefix (see `requestIdCondition`). */
  readonly requestId?: string
  readonly from?: number
  readonly to?: number
}

/** The columns whose names differ from the names of their fields. */
export const LOG_FIELD_COLUMNS = { group: 'call_group' }

/** All columns of the log. The key columns are first, and the encrypted columns are last. */
export const LOG_COLUMNS = [
  'id',
  'created_at',
  'type',
  'user_id',
  'token_id',
  'channel_id',
  'actor_id',
  'model',
  'call_group',
  'request_id',
  'is_stream',
  'prompt_tokens',
  'completion_tokens',
  'quota',
  'duration_ms',
  'reason',
  'other',
  'admin_other',
  'failed_channels',
  'client_ip',
  'note',
] as const
export type LogColumn = (typeof LOG_COLUMNS)[number]

export const columnList = (names: readonly LogColumn[]) =>
  sql.join(
    names.map((name) => sql.identifier([name])),
    sql.fragment`, `,
  )

const [_id, _createdAt, ...CELLS] = LOG_COLUMNS

/** A filter value is rare if at most this number of rows have it. */
const RARE_ROWS_MAX = 1_000

/**
 * The way to find the failed calls of a channel: in the index order of `failed_calls`, or in an
 * order that Postgres chooses.
 */
type Access = 'by-failures' | 'by-planner'

/**
 * Returns how to find the failed calls for a page of the log. If the filter contains another value
 * that is rare, the index of this value is fastest, so the order is left to Postgres. Otherwise,
 * the failed calls are read in index order, because Postgres could choose to read the complete log.
 */
export async function accessOf(db: CommonQueryMethods, filter: LogFilter): Promise<Access> {
  const { failedChannelId, type: _type, from: _from, to: _to, ...indexed } = filter
  const values = Object.entries(indexed)
  if (failedChannelId === undefined || values.length === 0) return 'by-failures'
  const areRare = values.map(
    ([field, value]) => sql.fragment`${RARE_ROWS_MAX} >= (
      select count(*) from (
        select from read_call_log.log where ${matching({ [field]: value })}
        limit ${RARE_ROWS_MAX + 1}
      ) found
    )`,
  )
  const isRare = await db.oneFirst(sql.type(rowType({ isRare: Type.Boolean() }))`
    select ${sql.join(areRare, sql.fragment` or `)} as "isRare"
  `)
  return isRare ? 'by-planner' : 'by-failures'
}

/**
 * Returns a table `log` with all rows, or with the calls that failed on the filter's channel.
 * Callers apply `matching` to this table. NOTE: the limit in the lateral query makes Postgres look
 * up rows one by one in index order. With a plain join, Postgres would expect one row and sort all
 * rows.
 */
export function logOf({ failedChannelId }: LogFilter, access: Access = 'by-failures') {
  if (failedChannelId === undefined) return sql.fragment`read_call_log.log`
  if (access === 'by-planner') {
    return sql.fragment`(
      select * from read_call_log.log l where exists (
        select from read_call_log.failed_calls failed
        where failed.channel_id = ${failedChannelId} and failed.id = l.id
      )
    ) log`
  }
  return sql.fragment`(
    select failed.id, failed.created_at, found.*
    from read_call_log.failed_calls failed
    cross join lateral (
      select ${columnList(CELLS)} from read_call_log.log l
      where l.id = failed.id and l.created_at = failed.created_at limit 1
    ) found
    where failed.channel_id = ${failedChannelId}
  ) log`
}

/** The fields of a filter that the columns of `failed_calls` can answer. */
const FAILED_CALL_FIELDS: readonly string[] = ['failedChannelId', 'type', 'from', 'to']

/**
 * Returns the same rows as `logOf`, for queries that read only ids, quota and token counts. The
 * rows come from `failed_calls` alone if the columns of this table can answer the filter.
 */
export function narrowLogOf(filter: LogFilter, access: Access) {
  const { failedChannelId } = filter
  const isEnough = Object.keys(filter).every((field) => FAILED_CALL_FIELDS.includes(field))
  if (failedChannelId === undefined || !isEnough) return logOf(filter, access)
  return sql.fragment`(
    select * from read_call_log.failed_calls where channel_id = ${failedChannelId}
  ) log`
}

/**
 * Builds the SQL condition for a filter. NOTE: a filter for one token id uses `=`, because an index
 * scan with `any(…)` does not return rows in order.
 */
export function matching(filter: LogFilter) {
  const { userId, type, model, group, channelId, tokenIds } = filter
  const { requestId, from, to } = filter
  const conditions = [
    sql.fragment`true`,
    ...(userId === undefined ? [] : [sql.fragment`user_id = ${userId}`]),
    ...(type === undefined ? [] : [sql.fragment`type = ${type}`]),
    ...(model === undefined ? [] : [sql.fragment`model = ${model}`]),
    ...(group === undefined ? [] : [sql.fragment`call_group = ${group}`]),
    ...(channelId === undefined ? [] : [sql.fragment`channel_id = ${channelId}`]),
    ...(tokenIds === undefined ? [] : [ofTokens(tokenIds)]),
    ...(requestId === undefined ? [] : [requestIdCondition(requestId)]),
    ...(from === undefined ? [] : [sql.fragment`created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql.fragment`created_at <= ${to}`]),
  ]
  return sql.join(conditions, sql.fragment` and `)
}

const ofTokens = (ids: readonly number[]) =>
  ids.length === 1
    ? sql.fragment`token_id = ${ids[0] ?? 0}`
    : sql.fragment`token_id = any(${sql.array(ids, 'int8')})`

type SqlFragment = ReturnType<typeof sql.fragment>

/**
 * Completes a query of log rows with the current names of users, tokens and channels. The names are
 * joined to the selected rows, so that no other rows are joined.
 */
export const named = (rows: SqlFragment, order: SqlFragment) => sql.type(logRow)`
  with selected as materialized (${rows})
  select
    ${selectedFields('l', LOG_FIELDS, LOG_FIELD_COLUMNS)},
    l.duration_ms as "durationMs", l.reason, l.shows_ip as "showsIp", l.actor_id as "actorId",
    l.actor_name as "actorName", l.note, l.admin_other as "adminOther",
    array_to_json(l.failed_channels)::text as "failedChannels"
  from (
    select r.*,
      coalesce(u.username, '') as username, coalesce(u.shows_ip, false) as shows_ip,
      coalesce(t.name, case when r.token_id < 0 then ${PLAYGROUND_NAME} else '' end) as token_name,
      coalesce(c.name, '') as channel_name, coalesce(a.username, '') as actor_name
    from selected r
    left join read_users.users u on u.id = r.user_id
    left join read_users.users a on a.id = r.actor_id
    left join read_tokens.tokens t on t.id = r.token_id
    left join read_channels.channels c on c.id = r.channel_id
  ) l
  order by ${order}
`
