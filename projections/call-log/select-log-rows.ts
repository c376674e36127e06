import { sql } from 'slonik'
import Type from 'typebox'
import { PLAYGROUND_NAME } from '#domain/shared/playground-token-id.ts'
import {
  nullable,
  quota,
  type RowOf,
  rowType,
  sealedText,
  wireInteger,
} from '#infra/postgres/row-types.ts'
import { requestIdCondition } from './filter-by-request-id.ts'

const logRow = rowType({
  /** The position of the event that created the row. */
  id: wireInteger,
  /** The time of the event in unix seconds. */
  createdAt: wireInteger,
  type: Type.Number(),
  userId: wireInteger,
  username: Type.String(),
  /** True if the user allows complete IP addresses to be shown. */
  showsIp: Type.Boolean(),
  tokenName: Type.String(),
  channelId: wireInteger,
  channelName: Type.String(),
  model: Type.String(),
  group: Type.String(),
  requestId: Type.String(),
  isStream: Type.Boolean(),
  promptTokens: wireInteger,
  completionTokens: wireInteger,
  quota,
  durationMs: wireInteger,
  /** A code that the reader translates into text (see `rowOf`). */
  reason: Type.String(),
  clientIp: sealedText,
  /**
   * The admin who made the change. If no admin made the change, `actorId` is 0, and `actorName` and
   * `note` (the admin's reason) are empty.
   */
  actorId: wireInteger,
  actorName: Type.String(),
  note: sealedText,
  /**
   * Details as JSON text for every reader. `adminOther` contains further details that only admins
   * see.
   */
  other: Type.String(),
  adminOther: Type.String(),
  /**
   * The channels whose attempts failed, as a JSON array for admins. It is null if no attempt
   * failed.
   */
  failedChannels: nullable(Type.String()),
})
export type LogRow = RowOf<typeof logRow>

/**
 * A filter of log rows. A field that is absent does not restrict the rows. `from` and `to` are unix
 * seconds, and both are included.
 */
export type LogFilter = {
  readonly userId?: number
  readonly type?: number
  readonly model?: string
  readonly group?: string
  readonly channelId?: number
  /**
   * A channel on which an attempt of the call failed. Another channel may have answered the call
   * after the failure.
   */
  readonly failedChannelId?: number
  readonly tokenIds?: readonly number[]
  /** A complete request id or a prefix of it (see `requestIdCondition`). */
  readonly requestId?: string
  readonly from?: number
  readonly to?: number
}

/** The columns of a log row, apart from the columns of its key. */
const CELLS = sql.fragment`
  type, user_id, token_id, channel_id, model, call_group, request_id, is_stream, prompt_tokens,
  completion_tokens, quota, duration_ms, reason, actor_id, note, client_ip, other, admin_other,
  failed_channels
`

/**
 * Returns the rows to which the condition of `matching` applies, as a table named `log`. With a
 * failed channel, these are the calls that failed on it.
 *
 * NOTE: the limit in the lateral query makes Postgres look up each row by its key, in the order of
 * the index of `failed_calls`. For a plain join, Postgres expects a single row and sorts all rows.
 */
export function logOf({ failedChannelId }: LogFilter) {
  if (failedChannelId === undefined) return sql.fragment`read_call_log.log`
  return sql.fragment`(
    select failed.id, failed.created_at, found.*
    from read_call_log.failed_calls failed
    cross join lateral (
      select ${CELLS} from read_call_log.log l
      where l.id = failed.id and l.created_at = failed.created_at limit 1
    ) found
    where failed.channel_id = ${failedChannelId}
  ) log`
}

/** The fields of a filter that the columns of `failed_calls` can answer. */
const FAILED_CALL_FIELDS: readonly string[] = ['failedChannelId', 'type', 'from', 'to']

/**
 * Returns the same rows as `logOf`, for a query that reads only their ids or figures. If possible,
 * the rows are read from `failed_calls` alone.
 */
export function narrowLogOf(filter: LogFilter) {
  const { failedChannelId } = filter
  const isEnough = Object.keys(filter).every((field) => FAILED_CALL_FIELDS.includes(field))
  if (failedChannelId === undefined || !isEnough) return logOf(filter)
  return sql.fragment`(
    select * from read_call_log.failed_calls where channel_id = ${failedChannelId}
  ) log`
}

/**
 * Builds the SQL condition for a filter, for the rows that `logOf` returns.
 *
 * NOTE: a filter for one token id uses `=`, because an index scan with `any(…)` does not return
 * rows in order.
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

type Chosen = ReturnType<typeof sql.fragment>

/**
 * Adds user and channel names to the log rows that another query selects. The names are joined
 * after the selection, so that only the selected rows are joined. The names are the current names.
 */
export const named = (rows: Chosen, order: Chosen) => sql.type(logRow)`
  with chosen as materialized (${rows})
  select
    l.id, l.created_at as "createdAt", l.type, l.user_id as "userId",
    coalesce(u.username, '') as username, coalesce(u.shows_ip, false) as "showsIp",
    coalesce(t.name, case when l.token_id < 0 then ${PLAYGROUND_NAME} else '' end) as "tokenName",
    l.channel_id as "channelId",
    coalesce(c.name, '') as "channelName", l.model, l.call_group as "group",
    l.request_id as "requestId", l.is_stream as "isStream",
    l.prompt_tokens as "promptTokens", l.completion_tokens as "completionTokens", l.quota,
    l.duration_ms as "durationMs", l.reason, l.client_ip as "clientIp", l.other,
    l.admin_other as "adminOther", array_to_json(l.failed_channels)::text as "failedChannels",
    l.actor_id as "actorId",
    coalesce(a.username, '') as "actorName", l.note
  from chosen l
  left join read_users.users u on u.id = l.user_id
  left join read_users.users a on a.id = l.actor_id
  left join read_tokens.tokens t on t.id = l.token_id
  left join read_channels.channels c on c.id = l.channel_id
  order by ${order}
`
