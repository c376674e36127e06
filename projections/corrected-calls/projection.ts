import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChargeCorrected } from '#domain/accounts/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../unix-seconds.ts'

/** The corrections of the charges of calls, by call. */
export const correctedCalls = projectionOf<ChargeCorrected>({
  name: 'corrected-calls',
  version: 2,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { calls: { key: ['call', 'position'] } },
  handlers: {
    ChargeCorrected: ({ data, meta, position, revision }, rows) => {
      const { userId, correctionId, model, balanceAfter = null, heldAfter = null } = data
      for (const { call, tokenId, charge, corrected, unpaid = 0, ...place } of data.calls) {
        const { channelId, group: call_group = '' } = place
        rows.insert(
          'calls',
          { call, position },
          {
            ...{ revision, created_at: secondsOf(meta.at), user_id: userId },
            ...{ correction_id: correctionId, charge, corrected, unpaid },
            ...{ model, token_id: tokenId, channel_id: channelId ?? 0, call_group },
            ...{ balance_after: balanceAfter, held_after: heldAfter },
          },
        )
      }
    },
  },
})
