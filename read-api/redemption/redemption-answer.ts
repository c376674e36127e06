import { toWire } from '#domain/shared/quota.ts'
import type { RedemptionRow } from '#projections/redemptions/query.ts'
import type { Redemption } from '../contract/redemption.ts'
import type { ReadDeps } from '../question.ts'

/** Codes as the wire has them; `withKeys` for admins' own eyes alone. */
export async function redemptionAnswers(
  { core }: ReadDeps,
  rows: readonly RedemptionRow[],
  withKeys: boolean,
): Promise<Redemption[]> {
  const owned = withKeys ? rows.map(({ id, keyRef: ref }) => ({ owner: ownerOf(id), ref })) : []
  const keys = await core.vault.getSecrets('redemption-key', owned)
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    key: keys.get(row.keyRef) ?? '',
    key_hint: row.keyHint,
    quota: toWire(row.quota),
    status: row.status,
    created_time: row.createdAt,
    used_user_id: row.usedUserId,
    used_username: row.usedUsername,
    redeemed_time: row.redeemedAt,
    is_gift: row.isGift,
    max_uses: row.maxUses ?? -1,
    used_count: row.usedCount,
    valid_from: row.validFrom ?? 0,
    valid_until: row.validUntil ?? 0,
  }))
}

const ownerOf = (id: number): string => `redemption:${id}`
