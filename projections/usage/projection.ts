import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChargeCorrected } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { cacheSavingOf } from '../logs/log-row-details.ts'
import {
  type CallCells,
  CONSUMPTION,
  type LogCells,
  type LoggedEvent,
  rowOf,
} from '../logs/log-row-of-event.ts'
import { projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { secondsOf } from '../unix-seconds.ts'
import { usageKeyOf } from './usage-sum-keys.ts'

const WITHIN_PART = ['type', 'model', 'call_group', 'channel_id'] as const
const HOUR = 3_600
const DAY = 86_400

/**
 * Sums of the usage log by hour and by day. Ranges of several years use the sums by day, because
 * the sums by hour would be too many rows. For tokens, only sums by day are kept. Providers' costs
 * are summed in `by_model`, `by_part` and `by_day`, and only admins can read these sums.
 */
export const usageByHour = projectionOf<LoggedEvent>({
  name: 'usage-by-hour',
  version: 10,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    by_model: { key: ['hour', 'type', 'model'], isShared: true },
    by_user_and_model: { key: ['user_id', 'hour', 'type', 'model'] },
    charged_by_day: { key: ['day', 'user_id'] },
    by_part: { key: ['part', 'hour', ...WITHIN_PART], isShared: true },
    by_day: { key: ['part', 'day', ...WITHIN_PART], isShared: true },
  },
  handlers: {
    CallSettled: count,
    CallReleased: count,
    CallInterrupted: count,
    ChargeCorrected: (event, rows) => {
      count(event, rows)
      correct(event, rows)
    },
    QuotaGranted: count,
    QuotaDeducted: count,
    AffiliateTransferred: count,
    CheckedIn: count,
    TopUpCredited: count,
    TopUpReversed: count,
    SiteInitialized: count,
    UserGroupChanged: count,
  },
})

function count(event: Recorded<LoggedEvent>, rows: RowChanges): void {
  const row = rowOf(event)
  const { created_at, user_id, type, model, call } = row
  const attributes = { created_at, user_id, type, model, ...channelAndGroupOf(row) }
  addUsage(
    call === undefined ? attributes : { ...attributes, token_id: call.token_id },
    {
      count: 1n,
      quota: fromWire(row.quota),
      prompt_tokens: BigInt(row.prompt_tokens),
      completion_tokens: BigInt(row.completion_tokens),
    },
    { ...costOf(event), ...cacheOf(event) },
    rows,
  )
}

/**
 * Adds the changes of charges by a correction to the sums of the hour in which the correction was
 * made. The calls are not counted again.
 */
function correct({ data, meta }: Recorded<ChargeCorrected>, rows: RowChanges): void {
  const created_at = secondsOf(meta.at)
  const { userId: user_id, model } = data
  for (const { tokenId: token_id, charge, corrected, ...attributes } of data.calls) {
    const { group: call_group = '', channelId, isCosted = false } = attributes
    const quota = fromWire(corrected) - fromWire(charge)
    const call = { token_id, call_group, channel_id: channelId ?? 0 }
    addUsage(
      { created_at, user_id, type: CONSUMPTION, model, ...call },
      { count: 0n, quota, prompt_tokens: 0n, completion_tokens: 0n },
      { cost: 0n, costed_quota: isCosted ? quota : 0n, ...NO_CACHE },
      rows,
    )
  }
}

type UsageAttributes = Pick<LogCells, 'created_at' | 'user_id' | 'model'> &
  ChannelAndGroup & { readonly type: number; readonly token_id?: number }

type Amounts<Name extends string> = { readonly [name in Name]: bigint }

function addUsage(
  { created_at, user_id, type, model, call_group, channel_id: channel, token_id }: UsageAttributes,
  counted: Amounts<'count' | 'quota' | 'prompt_tokens' | 'completion_tokens'>,
  { cost, costed_quota, ...cache }: Amounts<'cost' | 'costed_quota' | keyof typeof NO_CACHE>,
  rows: RowChanges,
): void {
  const hour = created_at - (created_at % HOUR)
  const day = created_at - (created_at % DAY)
  const costed = { ...counted, cost, costed_quota }
  rows.add('by_model', { hour, type, model }, { ...costed, ...cache })
  rows.add('by_user_and_model', { user_id, hour, type, model }, counted)
  if (type === CONSUMPTION) rows.add('charged_by_day', { day, user_id }, counted)
  const byDay = (part: string, channel_id: number): void =>
    rows.add('by_day', { part, day, type, model, call_group, channel_id }, costed)
  const byHourAndDay = (part: string, channel_id: number): void => {
    rows.add('by_part', { part, hour, type, model, call_group, channel_id }, costed)
    byDay(part, channel_id)
  }
  byDay(usageKeyOf.user(user_id), channel)
  if (token_id !== undefined) byDay(usageKeyOf.token(token_id), channel)
  if (channel !== 0) byHourAndDay(usageKeyOf.channel(channel), channel)
  // A group's sums have the channel id 0.
  if (call_group !== '') byHourAndDay(usageKeyOf.group(call_group), 0)
}

// NOTE: without a cost, 0 is added. All rows therefore have the same columns, so that one statement
// can write them in key order.
const NO_COST = { cost: 0n, costed_quota: 0n }

function costOf({ data }: Recorded<LoggedEvent>) {
  const cost = 'cost' in data ? data.cost : undefined
  if (cost === undefined || !('charge' in data)) return NO_COST
  return { cost: fromWire(cost), costed_quota: fromWire(data.charge) }
}

const NO_CACHE = { cache_read_tokens: 0n, cache_saved: 0n }

function cacheOf({ data }: Recorded<LoggedEvent>) {
  if (!('usage' in data)) return NO_CACHE
  const saved = cacheSavingOf(data.price, data.usage)
  if (saved === null) return NO_CACHE
  return { cache_read_tokens: BigInt(data.usage.cacheRead), cache_saved: saved }
}

type ChannelAndGroup = Pick<CallCells, 'call_group' | 'channel_id'>

/**
 * Returns the channel and the group of a log row, as in the columns of the log. Sums that are
 * filtered by group therefore agree with the log.
 */
const channelAndGroupOf = ({ call, call_group = '' }: LogCells): ChannelAndGroup =>
  call === undefined
    ? { call_group, channel_id: 0 }
    : { call_group: call.call_group, channel_id: call.channel_id }
