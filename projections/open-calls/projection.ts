import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  CallAdmitted,
  CallInterrupted,
  CallProgressed,
  CallReleased,
  CallSettled,
} from '#domain/accounts/events.ts'
import { projectionOf } from '../projection.ts'

type CallEvent = CallAdmitted | CallProgressed | CallSettled | CallReleased | CallInterrupted

/**
 * The open calls. A background job (the sweeper) looks here for calls of processes that have died.
 */
export const openCallsProjection = projectionOf<CallEvent>({
  name: 'open-calls',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { calls: { key: ['call'] } },
  handlers: {
    CallAdmitted: ({ data, meta }, rows) =>
      rows.insert(
        'calls',
        { call: data.call },
        {
          user_id: data.userId,
          token_id: data.tokenId,
          model: data.model,
          admitted_at: meta.at,
          lease_until: data.leaseUntil,
        },
      ),
    CallProgressed: ({ data }, rows) =>
      rows.patch('calls', { call: data.call }, { lease_until: data.leaseUntil }),
    CallSettled: ({ data }, rows) => rows.remove('calls', { call: data.call }),
    CallReleased: ({ data }, rows) => rows.remove('calls', { call: data.call }),
    CallInterrupted: ({ data }, rows) => rows.remove('calls', { call: data.call }),
  },
})
