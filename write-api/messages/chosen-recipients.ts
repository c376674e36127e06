import { type IdRange, rangesOf } from '#domain/message/recipients.ts'
import { chosenUserIds } from '#projections/users/query.ts'
import type { CreateMessage } from '#write-api/contract/message.ts'
import type { Parts } from '../act.ts'
import { refused } from '../refusals.ts'

const FRESH_WITHIN_MS = 2_000
const NAMED_MAX = 10

/** Everybody it goes to, as of now. Unknown and deleted users are refused and named. */
export async function chosenRecipients(
  { core, freshness }: Parts,
  { user_ids = [], groups = [], everybody = false }: CreateMessage,
): Promise<IdRange[]> {
  // Whoever has registered by now is among everybody.
  await freshness.waitFor(['users'], await core.store.headPosition(), FRESH_WITHIN_MS)
  const chosen = { isEverybody: everybody, groups, userIds: user_ids }
  const ids = await chosenUserIds(core.db, chosen)
  const known = new Set(ids)
  const unknown = user_ids.filter((id) => !known.has(id))
  if (unknown.length > 0) {
    throw refused('RecipientUnknown', { ids: unknown.slice(0, NAMED_MAX).join(', ') })
  }
  return rangesOf(ids)
}
