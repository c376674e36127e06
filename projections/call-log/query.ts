import { type CommonQueryMethods, sql } from 'slonik'
import { z } from 'zod'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { quota, wireInteger } from '#infra/postgres/row-types.ts'

const sealedText = z
  .string()
  .nullable()
  .transform((text) => text as Sealed | null)

const logRow = z.object({
  /** The position of the event that made it. */
  id: wireInteger,
  /** Unix seconds. */
  createdAt: wireInteger,
  type: z.number(),
  userId: wireInteger,
  username: z.string(),
  /** Whether the user wants addresses shown in full. */
  showsIp: z.boolean(),
  tokenName: z.string(),
  channelId: wireInteger,
  channelName: z.string(),
  model: z.string(),
  group: z.string(),
  requestId: z.string(),
  isStream: z.boolean(),
  promptTokens: wireInteger,
  completionTokens: wireInteger,
  quota,
  durationMs: wireInteger,
  /** See `rowOf`: worded when it is shown. */
  reason: z.string(),
  clientIp: sealedText,
  /** Of a change by hand, who made it and why; 0 and empty otherwise. */
  actorId: wireInteger,
  actorName: z.string(),
  note: sealedText,
  /** JSON text for everybody, and what is added for admins. */
  other: z.string(),
  adminOther: z.string(),
})
export type LogRow = z.infer<typeof logRow>

/** What is absent lets everything through. Times in unix seconds, both ends included. */
export type LogFilter = {
  readonly userId?: number
  readonly type?: number
  readonly model?: string
  readonly group?: string
  readonly channelId?: number
  readonly tokenIds?: readonly number[]
  readonly from?: number
  readonly to?: number
}

function matching(filter: LogFilter) {
  const { userId, type, model, group, channelId, tokenIds, from, to } = filter
  const conditions = [
    sql.fragment`true`,
    ...(userId === undefined ? [] : [sql.fragment`user_id = ${userId}`]),
    ...(type === undefined ? [] : [sql.fragment`type = ${type}`]),
    ...(model === undefined ? [] : [sql.fragment`model = ${model}`]),
    ...(group === undefined ? [] : [sql.fragment`call_group = ${group}`]),
    ...(channelId === undefined ? [] : [sql.fragment`channel_id = ${channelId}`]),
    ...(tokenIds === undefined
      ? []
      : [sql.fragment`token_id = any(${sql.array(tokenIds, 'int8')})`]),
    ...(from === undefined ? [] : [sql.fragment`created_at >= ${from}`]),
    ...(to === undefined ? [] : [sql.fragment`created_at <= ${to}`]),
  ]
  return sql.join(conditions, sql.fragment` and `)
}

type Chosen = ReturnType<typeof sql.fragment>

/** Names are joined to the few rows that are shown, as they are now. */
const named = (rows: Chosen, direction: Chosen) => sql.type(logRow)`
  with chosen as materialized (${rows})
  select
    l.id, l.created_at as "createdAt", l.type, l.user_id as "userId",
    coalesce(u.username, '') as username, coalesce(u.shows_ip, false) as "showsIp",
    coalesce(t.name, '') as "tokenName", l.channel_id as "channelId",
    coalesce(c.name, '') as "channelName", l.model, l.call_group as "group",
    l.request_id as "requestId", l.is_stream as "isStream",
    l.prompt_tokens as "promptTokens", l.completion_tokens as "completionTokens", l.quota,
    l.duration_ms as "durationMs", l.reason, l.client_ip as "clientIp", l.other,
    l.admin_other as "adminOther", l.actor_id as "actorId",
    coalesce(a.username, '') as "actorName", l.note
  from chosen l
  left join read_users.users u on u.id = l.user_id
  left join read_users.users a on a.id = l.actor_id
  left join read_tokens.tokens t on t.id = l.token_id
  left join read_channels.channels c on c.id = l.channel_id
  order by l.id ${direction}
`

/** Rows newest first, below `before` (a row's id) when it is given. */
export const logRows = (
  db: CommonQueryMethods,
  filter: LogFilter,
  slice: { readonly before?: number; readonly offset: number; readonly limit: number },
): Promise<readonly LogRow[]> => {
  const below = slice.before === undefined ? sql.fragment`true` : sql.fragment`id < ${slice.before}`
  return db.any(
    named(
      sql.fragment`
        select * from read_call_log.log where ${matching(filter)} and ${below}
        order by id desc limit ${slice.limit} offset ${slice.offset}`,
      sql.fragment`desc`,
    ),
  )
}

/** Rows after a position and up to another, oldest first: what the live socket sends. */
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

/** How many rows there are, counted no further than `cap`. */
export const countLogRows = (
  db: CommonQueryMethods,
  filter: LogFilter,
  cap: number,
): Promise<number> =>
  db.oneFirst(sql.type(z.object({ count: wireInteger }))`
    select count(*) as count from (
      select from read_call_log.log where ${matching(filter)} limit ${cap}
    ) counted
  `)

const logSums = z.object({
  count: wireInteger,
  quota: z.string().transform(BigInt),
  promptTokens: z.string().transform(Number),
  completionTokens: z.string().transform(Number),
})
export type LogSums = z.infer<typeof logSums>

/** Sums over the rows themselves: for what the rollups don't answer. */
export const sumLogRows = (db: CommonQueryMethods, filter: LogFilter): Promise<LogSums> =>
  db.one(sql.type(logSums)`
    select count(*) as count, coalesce(sum(quota), 0)::text as quota,
      coalesce(sum(prompt_tokens), 0)::text as "promptTokens",
      coalesce(sum(completion_tokens), 0)::text as "completionTokens"
    from read_call_log.log where ${matching(filter)}
  `)

const otherText = z.string().transform((text) => JSON.parse(text) as LoggedOther)
type LoggedOther = {
  readonly price?: { readonly userGroup?: string }
  readonly usage?: Partial<Usage> & { readonly calls?: number }
}

const chargedCall = z
  .object({
    id: wireInteger,
    userId: wireInteger,
    model: z.string(),
    group: z.string(),
    quota,
    other: otherText,
  })
  .transform(({ other, ...row }) => {
    const { calls, ...usage } = other.usage ?? {}
    return {
      ...row,
      /** The user's group when the call was admitted. */
      userGroup: other.price?.userGroup ?? row.group,
      usage: { ...NO_USAGE, ...usage } as Usage,
      /** Left out where the usage alone tells it: see `chargeFor`. */
      calls,
    }
  })
export type ChargedCall = z.infer<typeof chargedCall>

/** What was charged within some seconds (both ends included), by id, above `after`. */
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
