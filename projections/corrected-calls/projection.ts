import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChargeCorrected } from '#domain/accounts/events.ts'
import { projectionOf } from '../projection.ts'
import { secondsOf } from '../unix-seconds.ts'

/**
 * The calls whose charges were corrected, with one row for each correction of a call. The table
 * `sums` has the total changes of each correction.
 */
export const correctedCalls = projectionOf<ChargeCorrected>({
  name: 'corrected-calls',
  version: 3,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    calls: { key: ['call', 'position'] },
    // One correction can change the charges of accounts in several lanes.
    sums: { key: ['correction_id'], isShared: true },
  },
  handlers: {
    ChargeCorrected: ({ data, meta, position, revision }, rows) => {
      const { userId, correctionId, model, balanceAfter = null, heldAfter = null } = data
      for (const { call, tokenId, charge, corrected, unpaid = 0, ...attributes } of data.calls) {
        const { channelId, group: call_group = '' } = attributes
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
      rows.add('sums', { correction_id: correctionId }, sumsOf(data.calls))
    },
  },
})

function sumsOf(calls: ChargeCorrected['data']['calls']) {
  const sums = { calls: BigInt(calls.length), refunded: 0n, charged: 0n, unpaid: 0n }
  for (const { charge, corrected, unpaid = 0 } of calls) {
    if (corrected < charge) sums.refunded += BigInt(charge - corrected)
    else sums.charged += BigInt(corrected - charge)
    sums.unpaid += BigInt(unpaid)
  }
  return sums
}
