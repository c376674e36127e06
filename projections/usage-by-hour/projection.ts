import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '#domain/shared/event.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { type CallCells, type LogCells, type LoggedEvent, rowOf } from '../call-log/row-of.ts'
import { projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { partOf } from './part.ts'

const WITHIN_PART = ['type', 'model', 'call_group', 'channel_id'] as const
const CONSUMPTION = 2
const HOUR = 3_600
const DAY = 86_400

/**
 * Counts and sums of the log's rows: by hour for the site and for each user, channel and group; by
 * day, because years of hours would be too many rows, for each user, token, channel and group.
 * Provider costs are summed only for the parts that admins look at.
 */
export const usageByHour = projectionOf<LoggedEvent>({
  name: 'usage-by-hour',
  version: 7,
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
  rows.add('by_model', { hour, type, model }, costed)
  rows.add('by_user_and_model', { user_id: row.user_id, hour, type, model }, counted)
  if (type === CONSUMPTION) rows.add('charged_by_day', { day, user_id: row.user_id }, counted)
  const within = { type, model, ...placeOf(row) }
  rows.add('by_day', { part: partOf.user(row.user_id), day, ...within }, costed)
  if (call !== undefined) {
    rows.add('by_day', { part: partOf.token(call.token_id), day, ...within }, costed)
  }
  for (const { part, ...narrowed } of sharedParts(within)) {
    rows.add('by_part', { part, hour, ...within, ...narrowed }, costed)
    rows.add('by_day', { part, day, ...within, ...narrowed }, costed)
  }
}

// NOTE: written even when it is zero, so that all rows are written by one statement, in the order
// of their keys.
const NO_COST = { cost: 0n, costed_quota: 0n }

function costOf({ data }: Recorded<LoggedEvent>) {
  const cost = 'cost' in data ? data.cost : undefined
  if (cost === undefined || !('charge' in data)) return NO_COST
  return { cost: fromWire(cost), costed_quota: fromWire(data.charge) }
}

type Place = Pick<CallCells, 'call_group' | 'channel_id'>

/**
 * Takes channel and group from the log's own columns, so that rows found by group there are counted
 * for that group.
 */
const placeOf = ({ call, call_group = '' }: LogCells): Place =>
  call === undefined
    ? { call_group, channel_id: 0 }
    : { call_group: call.call_group, channel_id: call.channel_id }

type Part = { readonly part: string; readonly channel_id?: number }

/**
 * A group's part does not distinguish channels; usage by channel and group is in the channel's
 * part.
 */
function sharedParts({ channel_id, call_group }: Place): Part[] {
  return [
    ...(channel_id === 0 ? [] : [{ part: partOf.channel(channel_id) }]),
    ...(call_group === '' ? [] : [{ part: partOf.group(call_group), channel_id: 0 }]),
  ]
}
