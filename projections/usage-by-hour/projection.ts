import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '#domain/shared/event.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { type LoggedEvent, rowOf } from '../call-log/row-of.ts'
import { projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'

/** The log's rows, counted and summed by hour: for everybody by model, and for each user. */
export const usageByHour = projectionOf<LoggedEvent>({
  name: 'usage-by-hour',
  version: 3,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    by_model: { key: ['hour', 'type', 'model'], isShared: true },
    by_user_and_model: { key: ['user_id', 'hour', 'type', 'model'] },
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
  },
})

function count(event: Recorded<LoggedEvent>, rows: RowChanges): void {
  const row = rowOf(event)
  const hour = row.created_at - (row.created_at % 3_600)
  const { type, model } = row
  const counted = {
    count: 1n,
    quota: fromWire(row.quota),
    prompt_tokens: BigInt(row.prompt_tokens),
    completion_tokens: BigInt(row.completion_tokens),
  }
  rows.add('by_model', { hour, type, model }, counted)
  rows.add('by_user_and_model', { user_id: row.user_id, hour, type, model }, counted)
}
