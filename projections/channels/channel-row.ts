import { sql } from 'slonik'
import Type from 'typebox'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { KEY_MODES } from '#domain/shared/channel-field-rules.ts'
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
  /**
   * The rule that chooses one of several keys for a call. Empty for a channel with a single key.
   */
  keyMode: Type.Enum([...KEY_MODES]),
  /** The keys that the gateway has disabled, each with the reason and the time in Unix seconds. */
  keysSetAside: Type.Array(
    Type.Object({ keyRef: Type.String(), reason: Type.String(), at: Type.Number() }),
  ),
  /** 1 is enabled, 2 disabled by an admin, 3 disabled by the gateway. */
  status: Type.Union([Type.Literal(1), Type.Literal(2), Type.Literal(3)]),
  /** The reason for which the gateway disabled the channel, or empty. */
  statusReason: Type.String(),
  /** The time of the last status change. This time and `createdAt` are in Unix seconds. */
  statusAt: wireInteger,
  createdAt: wireInteger,
  /**
   * The position of the last event that changed the channel. Charges, tests and balance queries do
   * not count as changes.
   */
  changedPosition: wireInteger,
  isDeleted: Type.Boolean(),
  usedQuota: quota,
  /** The duration of the last successful test in milliseconds, or 0. */
  responseTime: wireInteger,
  /**
   * The times of the last test (`testedAt`) and of the last balance query, in Unix seconds, or 0.
   */
  testedAt: wireInteger,
  /** The balance in US dollars, as decimal text. */
  balance: decimalText,
  balanceReadAt: wireInteger,
  /** The error code of the last test, or empty. */
  testFailure: Type.String(),
}

/**
 * A channel with all its terms. NOTE: the terms are built in TypeScript, because Postgres would
 * take three times as long for a thousand rows.
 */
export const channelRow = rowType(
  SELECTED,
  ({ name, tag, models, groups, modelMapping, priority, weight, expiredTime, terms, ...row }) => ({
    ...row,
    terms: {
      ...terms,
      name,
      tag,
      models,
      groups,
      modelMapping,
      priority,
      weight,
      expiredTime,
    } as ChannelTerms,
  }),
)
export type ChannelRow = RowOf<typeof channelRow>

/**
 * Joins `channels c` with the quota charged through each channel (`s`) and with the channel's last
 * test (`t`).
 */
export const withFigures = sql.fragment`
  read_channels.channels c
    left join read_channels.spent s on s.channel_id = c.id
    left join read_channel_checks.checks t on t.channel_id = c.id
`

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

/** The fields of a channel that are displayed or summed in the row of its tag. */
export const memberRow = rowType({
  id: wireInteger,
  name: Type.String(),
  /** The displayed status. An expired channel has the status 3. */
  status: Type.Number(),
  groups: Type.Array(Type.String()),
  priority: wireInteger,
  weight: wireInteger,
  usedQuota: quota,
  responseTime: wireInteger,
})
export type MemberRow = RowOf<typeof memberRow>

/** The columns of `memberRow`, selected from `withFigures`. `now` is in Unix seconds. */
export const memberColumns = (now: number) => sql.fragment`
  c.id, c.name, ${shownStatus(now)} as status, c.groups, c.priority, c.weight,
  coalesce(s.used_quota, 0) as "usedQuota", coalesce(t.response_time, 0) as "responseTime"
`

/** The SQL condition that the channel `c` accepts calls at `now` (Unix seconds). */
export const isUsableAt = (now: number) =>
  sql.fragment`(c.status = 1 and (c.expired_at <= 0 or c.expired_at > ${now}))`

/**
 * The SQL expression for a channel's displayed status. An expired channel is displayed as disabled
 * by the gateway.
 */
export const shownStatus = (now: number) =>
  sql.fragment`(case when c.status = 1 and not ${isUsableAt(now)} then 3 else c.status end)`
