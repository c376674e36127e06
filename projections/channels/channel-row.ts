import { sql } from 'slonik'
import { z } from 'zod'
import type { ChannelTerms } from '#domain/channel/events.ts'
import { decimalText, quota, wireInteger } from '#infra/postgres/row-types.ts'

const OWN_CELLS = {
  name: z.string(),
  tag: z.string(),
  models: z.custom<ChannelTerms['models']>(),
  groups: z.custom<ChannelTerms['groups']>(),
  modelMapping: z.string(),
  priority: wireInteger,
  weight: wireInteger,
  expiredTime: wireInteger,
}
type OwnCell = keyof typeof OWN_CELLS

const selectedRow = z.object({
  ...OWN_CELLS,
  id: wireInteger,
  terms: z.custom<Omit<ChannelTerms, OwnCell>>(),
  keyRefs: z.array(z.string()),
  /** Empty: it has one key. */
  keyMode: z.enum(['', 'random', 'polling']),
  /** Which of its keys are not used for now, since when (unix seconds) and why. */
  keysSetAside: z.array(z.object({ keyRef: z.string(), reason: z.string(), at: z.number() })),
  /** 1 enabled, 2 disabled, 3 auto-disabled. */
  status: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  /** Why it was turned off by the gateway, empty otherwise. */
  statusReason: z.string(),
  /** Unix seconds, as `createdAt`. */
  statusAt: wireInteger,
  createdAt: wireInteger,
  /** Position of the last event that changed it (its spending apart). */
  changedPosition: wireInteger,
  isDeleted: z.boolean(),
  usedQuota: quota,
  /** Milliseconds of the last test that succeeded; 0 none has. */
  responseTime: wireInteger,
  /** Unix seconds, as `balanceReadAt`; 0 never. */
  testedAt: wireInteger,
  /** US dollars, as decimal text. */
  balance: decimalText,
  balanceReadAt: wireInteger,
  /** A code: why its last test failed; empty when it did not, or there was none. */
  testFailure: z.string(),
})
/** NOTE: terms are put together here: of a thousand rows Postgres takes thrice as long for it. */
export const channelRow = selectedRow.transform(
  ({ name, tag, models, groups, modelMapping, priority, weight, expiredTime, terms, ...row }) => ({
    ...row,
    terms: {
      ...terms,
      ...{ name, tag, models, groups, modelMapping, priority, weight, expiredTime },
    } as ChannelTerms,
  }),
)
export type ChannelRow = z.infer<typeof channelRow>

/** `channels c` with what was spent over each, `s`, and how it was tested, `t`. */
export const withFigures = sql.fragment`
  read_channels.channels c
    left join read_channels.spent s on s.channel_id = c.id
    left join read_channel_checks.checks t on t.channel_id = c.id
`

/** Rows of `channels c`, whole. */
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

/** What a tag's line tells of each of its channels, or of all together. */
export const memberRow = z.object({
  id: wireInteger,
  name: z.string(),
  /** As shown: 3 for one that is expired. */
  status: z.number(),
  groups: z.array(z.string()),
  priority: wireInteger,
  weight: wireInteger,
  usedQuota: quota,
  responseTime: wireInteger,
})
export type MemberRow = z.infer<typeof memberRow>

/** Columns of a `memberRow`, from `withFigures`. */
export const memberOf = (now: number) => sql.fragment`
  c.id, c.name, ${shownStatus(now)} as status, c.groups, c.priority, c.weight,
  coalesce(s.used_quota, 0) as "usedQuota", coalesce(t.response_time, 0) as "responseTime"
`

/** Whether `channels c` may be called at `now` (unix seconds). */
export const isOn = (now: number) =>
  sql.fragment`(c.status = 1 and (c.expired_at <= 0 or c.expired_at > ${now}))`

/** Of `channels c`: an expired one has turned itself off. */
export const shownStatus = (now: number) =>
  sql.fragment`(case when c.status = 1 and not ${isOn(now)} then 3 else c.status end)`
