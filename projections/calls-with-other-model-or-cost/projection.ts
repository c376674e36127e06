import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CallSettled } from '#domain/accounts/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../unix-seconds.ts'

/**
 * The anomalies of a call that the read model lists. `other-model`: the answer names a model other
 * than the one in the request to the provider. `higher-cost`: the provider reported more than twice
 * the expected cost. The expected cost is the list price of the usage, multiplied by the channel's
 * cost ratio.
 */
const MISMATCHES = ['other-model', 'higher-cost']
const DAY_SECONDS = 86_400

/**
 * The calls with one of the anomalies in `MISMATCHES`, and the numbers of these calls by channel,
 * anomaly and day.
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
