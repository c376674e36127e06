import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RedemptionEvent } from '#domain/redemptions/events.ts'
import { REDEMPTION_TERMS } from '#read-api/contract/redemption-fields.ts'
import { projectionOf } from '../projection.ts'
import { cellsOfFields } from '../resource-field-columns.ts'
import { secondsOf } from '../unix-seconds.ts'

/** The redemption codes with the vault references of their keys, and who redeemed them. */
export const redemptions = projectionOf<RedemptionEvent>({
  name: 'redemptions',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: {
    redemptions: { key: ['id'] },
    uses: { key: ['redemption_id', 'user_id'] },
  },
  handlers: {
    RedemptionCreated: ({ data, meta, position }, rows) =>
      rows.insert(
        'redemptions',
        { id: data.redemptionId },
        {
          key_lookup: data.keyLookup,
          key_ref: data.keyRef,
          key_hint: data.keyHint,
          ...cellsOfFields(REDEMPTION_TERMS, data.terms),
          created_at: secondsOf(meta.at),
          created_by: Number(/^user:(\d+)$/.exec(meta.actor)?.[1] ?? 0),
          changed_position: position,
        },
      ),
    RedemptionTermsChanged: ({ data: { redemptionId: id, terms }, position }, rows) =>
      rows.patch(
        'redemptions',
        { id },
        { ...cellsOfFields(REDEMPTION_TERMS, terms), changed_position: position },
      ),
    RedemptionDisabled: ({ data: { redemptionId: id }, position }, rows) =>
      rows.patch('redemptions', { id }, { is_disabled: true, changed_position: position }),
    RedemptionEnabled: ({ data: { redemptionId: id }, position }, rows) =>
      rows.patch('redemptions', { id }, { is_disabled: false, changed_position: position }),
    RedemptionDeleted: ({ data: { redemptionId: id }, position }, rows) =>
      rows.patch('redemptions', { id }, { is_deleted: true, changed_position: position }),
    CodeRedeemed: ({ data, meta, position }, rows) => {
      const { redemptionId, userId, quota, use } = data
      const usedAt = secondsOf(meta.at)
      const key = { redemption_id: redemptionId, user_id: userId }
      rows.insert('uses', key, { use, quota, used_at: usedAt })
      const cells = { used_user_id: userId, used_count: use, redeemed_at: usedAt }
      rows.patch('redemptions', { id: redemptionId }, { ...cells, changed_position: position })
    },
  },
})
