import { sql } from 'slonik'
import Type from 'typebox'
import type { ChannelTerms } from '#domain/channel/events.ts'
import {
  decimalText,
  jsonOf,
  quota,
  type RowOf,
  rowType,
  wireInteger,
} from '#infra/postgres/row-types.ts'

const OWN_CELLS = {
  name: Type.String(),
  tag: Type.String(),
  models: jsonOf<ChannelTerms['models']>(),
  groups: jsonOf<ChannelTerms['groups']>(),
  modelMapping: Type.String(),
  priority: wireInteger,
  weight: wireInteger,
  expiredTime: wireInteger,
}
type OwnCell = keyof typeof OWN_CELLS

const SELECTED = {
  ...OWN_CELLS,
  id: wireInteger,
  terms: jsonOf<Omit<ChannelTerms, OwnCell>>(),
  keyRefs: Type.Array(Type.String()),
  /** Empty when the channel has a single key. */
  keyMode: Type.Enum(['', 'random', 'polling']),
  /** Keys that are disabled for now, with the time (unix seconds) and the reason. */
  keysSetAside: Type.Array(
    Type.Object({ keyRef: Type.String(), reason: Type.String(), at: Type.Number() }),
  ),
  /** 1 enabled, 2 disabled, 3 auto-disabled. */
  status: Type.Union([Type.Literal(1), Type.Literal(2), Type.Literal(3)]),
  /** The reason why the gateway disabled it; empty otherwise. */
  statusReason: Type.String(),
  /** Unix seconds, as is `createdAt`. */
  statusAt: wireInteger,
  createdAt: wireInteger,
  /** Position of the last event that changed it; spending does not count. */
  changedPosition: wireInteger,
  isDeleted: Type.Boolean(),
  usedQuota: quota,
  /** Milliseconds of the last successful test; 0 when there was none. */
  responseTime: wireInteger,
  /** Unix seconds, as is `balanceReadAt`; 0 when there was none. */
  testedAt: wireInteger,
  /** US dollars, as decimal text. */
  balance: decimalText,
  balanceReadAt: wireInteger,
  /** The error code of its last test; empty when the test succeeded or there was none. */
  testFailure: Type.String(),
}

/**
 * NOTE: terms are assembled here, because Postgres needs three times as long to assemble a thousand
 * rows.
 */
export const channelRow = rowType(
  SELECTED,
  ({ name, tag, models, groups, modelMapping, priority, weight, expiredTime, terms, ...row }) => ({
    ...row,
    terms: {
      ...terms,
      ...{ name, tag, models, groups, modelMapping, priority, weight, expiredTime },
    } as ChannelTerms,
  }),
)
export type ChannelRow = RowOf<typeof channelRow>

/**
 * Joins `channels c` with the amount spent over each channel (`s`) and with its test results (`t`).
 */
export const withFigures = sql.fragment`
  read_channels.channels c
    left join read_channels.spent s on s.channel_id = c.id
    left join read_channel_checks.checks t on t.channel_id = c.id
`

/** All columns of `channels c`. */
export const selected = sql.fragment`
  select
    c.id, c.key_refs as "keyRefs", c.key_mode as "keyMode", c.status,
    c.status_reason as "statusReason", c.status_at as "statusAt", c.created_at as "createdAt",
    c.changed_position as "changedPosition", c.is_deleted as "isDeleted",
    coalesce(s.used_quota, 0) as "usedQuota", coalesce(t.response_time, 0) as "responseTime",
    coalesce(t.test_time, 0) as "testedAt", coalesce(t.balance, 0)::text as balance,
    coalesce(t.balance_updated_time, 0) as "balanceReadAt", coalesce(t.reason, '') as "testFailure",
    c.terms, c.name, c.tag, c.models, c.groups, c.model_mapping as "modelMapping", c.priority,
    c.weight, c.expired_at as "expiredTime",
    coalesce(a.keys, '[]') as "keysSetAside"
  from ${withFigures}
    left join lateral (
      select jsonb_agg(
        jsonb_build_object('keyRef', k.key_ref, 'reason', k.reason, 'at', k.set_aside_at)) as keys
      from read_channels.keys_set_aside k
      where k.channel_id = c.id and k.is_set_aside and c.key_refs @> to_jsonb(k.key_ref)
    ) a on true
`

/** What the row of a tag shows of each of its channels, or of all together. */
export const memberRow = rowType({
  id: wireInteger,
  name: Type.String(),
  /** The status as shown: 3 for an expired channel. */
  status: Type.Number(),
  groups: Type.Array(Type.String()),
  priority: wireInteger,
  weight: wireInteger,
  usedQuota: quota,
  responseTime: wireInteger,
})
export type MemberRow = RowOf<typeof memberRow>

/** Columns of a `memberRow`, from `withFigures`. */
export const memberColumns = (now: number) => sql.fragment`
  c.id, c.name, ${shownStatus(now)} as status, c.groups, c.priority, c.weight,
  coalesce(s.used_quota, 0) as "usedQuota", coalesce(t.response_time, 0) as "responseTime"
`

/** Whether `channels c` accepts calls at `now` (unix seconds). */
export const isUsableAt = (now: number) =>
  sql.fragment`(c.status = 1 and (c.expired_at <= 0 or c.expired_at > ${now}))`

/** The shown status of `channels c`: an expired channel counts as auto-disabled. */
export const shownStatus = (now: number) =>
  sql.fragment`(case when c.status = 1 and not ${isUsableAt(now)} then 3 else c.status end)`
