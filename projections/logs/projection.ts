import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '#domain/shared/event.ts'
import { projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { detailsOf, type LoggedEvent, rowOf } from './log-row-of-event.ts'

/**
 * One row for each ended call, for each change of a balance without a call (except reversed
 * rebates), for each change of a user's group, and for the setup of the site.
 */
export const callLog = projectionOf<LoggedEvent>({
  name: 'call-log',
  version: 20,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    log: { key: ['id', 'created_at'], monthColumn: 'created_at', isAppendOnly: true },
    failed_calls: { key: ['channel_id', 'id'], isAppendOnly: true },
  },
  handlers: {
    CallSettled: log,
    CallReleased: log,
    CallInterrupted: log,
    ChargeCorrected: log,
    QuotaGranted: log,
    QuotaDeducted: log,
    AffiliateTransferred: log,
    CheckedIn: log,
    TopUpCredited: log,
    TopUpReversed: log,
    SiteInitialized: log,
    UserGroupChanged: log,
  },
})

function log(event: Recorded<LoggedEvent>, rows: RowChanges): void {
  const { created_at, call, ...cells } = rowOf(event)
  const id = event.position
  rows.insert('log', { id, created_at }, { ...cells, ...call, ...detailsOf(event) })
  const { type, quota, prompt_tokens, completion_tokens } = cells
  const figures = { created_at, type, quota, prompt_tokens, completion_tokens }
  for (const channel_id of call?.failed_channels ?? []) {
    rows.insert('failed_calls', { channel_id, id }, figures)
  }
}
