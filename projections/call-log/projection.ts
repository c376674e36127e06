import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorded } from '#domain/shared/event.ts'
import { projectionOf } from '../projection.ts'
import type { RowChanges } from '../runner/row-changes.ts'
import { type LoggedEvent, rowOf } from './log-row-of-event.ts'

/**
 * The usage log. It has one row for each call that ended, for each other change of a balance, and
 * for each change by an admin.
 */
export const callLog = projectionOf<LoggedEvent>({
  name: 'call-log',
  version: 13,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { log: { key: ['id', 'created_at'], monthColumn: 'created_at' } },
  handlers: {
    CallSettled: log,
    CallReleased: log,
    CallInterrupted: log,
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
  rows.insert('log', { id: event.position, created_at }, { ...cells, ...call })
}
