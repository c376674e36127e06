import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '#domain/shared/event.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { cacheSavingOf } from '../logs/log-row-details.ts'
import { type CallCells, type LogCells, type LoggedEvent, rowOf } from '../logs/log-row-of-event.ts'
import { projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { usageKeyOf } from './usage-sum-keys.ts'

const WITHIN_PART = ['type', 'model', 'call_group', 'channel_id'] as const
const CONSUMPTION = 2
const HOUR = 3_600
const DAY = 86_400

/**
 * Sums of the usage log by hour and by day. Ranges of several years use the sums by day, because
 * the sums by hour would be too many rows. For tokens, only sums by day are kept. Providers' costs
 * are summed only in tables for admins.
 */
export const usageByHour = projectionOf<LoggedEvent>({
  name: 'usage-by-hour',
  version: 9,
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
    ChargeCorrected: count,
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
  const hour = row.created_at - (row.created_at % HOUR)
  const day = row.created_at - (row.created_at % DAY)
  const { type, model, call } = row
  const counted = {
    count: 1n,
    quota: fromWire(row.quota),
    prompt_tokens: BigInt(row.prompt_tokens),
    completion_tokens: BigInt(row.completion_tokens),
  }
  const costed = { ...counted, ...costOf(event) }
  rows.add('by_model', { hour, type, model }, { ...costed, ...cacheOf(event) })
  rows.add('by_user_and_model', { user_id: row.user_id, hour, type, model }, counted)
  if (type === CONSUMPTION) rows.add('charged_by_day', { day, user_id: row.user_id }, counted)
  const { call_group, channel_id } = placeOf(row)
  const byDay = (part: string, channel_id: number): void =>
    rows.add('by_day', { part, day, type, model, call_group, channel_id }, costed)
  const byHourAndDay = (part: string, channel_id: number): void => {
    rows.add('by_part', { part, hour, type, model, call_group, channel_id }, costed)
    byDay(part, channel_id)
  }
  byDay(usageKeyOf.user(row.user_id), channel_id)
  if (call !== undefined) byDay(usageKeyOf.token(call.token_id), channel_id)
  if (channel_id !== 0) byHourAndDay(usageKeyOf.channel(channel_id), channel_id)
  // A group's sums have the channel id 0.
  if (call_group !== '') byHourAndDay(usageKeyOf.group(call_group), 0)
}

// NOTE: without a cost, 0 is added. All rows thus have the same columns, so that one statement can
// write them in key order.
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

type CallPlace = Pick<CallCells, 'call_group' | 'channel_id'>

/**
 * Returns the channel and group as in the log's columns. Sums that are filtered by group therefore
 * agree with the log.
 */
const placeOf = ({ call, call_group = '' }: LogCells): CallPlace =>
  call === undefined
    ? { call_group, channel_id: 0 }
    : { call_group: call.call_group, channel_id: call.channel_id }
