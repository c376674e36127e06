import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallSettled } from '#domain/accounts/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../unix-seconds.ts'

/**
 * The anomalies of a call that the read model lists. `other-model`: the provider answered with
 * another model than the billed one. `higher-cost`: the provider charged more than the list price
 * of the usage.
 */
const MISMATCHES = ['other-model', 'higher-cost']
const DAY_SECONDS = 86_400

/**
 * The calls with one of two anomalies, and the numbers of these calls by channel, anomaly and day.
 * Either the provider answered with another model than the billed one, or the provider charged more
 * than the list price of the usage.
 */
export const providerMismatches = projectionOf<CallSettled>({
  name: 'provider-mismatches',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    calls: { key: ['position', 'created_at'], monthColumn: 'created_at', isAppendOnly: true },
    sums: { key: ['channel_id', 'anomaly', 'day'], isShared: true },
  },
  handlers: {
    CallSettled: ({ data, meta, position }, rows) => {
      const { anomaly, channelId, userId, call, model, upstreamModel, attempts } = data
      if (anomaly === null || !MISMATCHES.includes(anomaly)) return
      const created_at = secondsOf(meta.at)
      rows.insert(
        'calls',
        { position, created_at },
        {
          ...{ anomaly, channel_id: channelId, user_id: userId, call, model },
          sent_model: upstreamModel ?? model,
          answered_model: attempts.at(-1)?.evidence?.model ?? null,
        },
      )
      const day = Math.floor(created_at / DAY_SECONDS)
      rows.add('sums', { channel_id: channelId, anomaly, day }, { count: 1n })
    },
  },
})
