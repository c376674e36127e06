import { type IdRange, rangesOf } from '#domain/message/recipients.ts'
import { fault } from '#infra/http/faults.ts'
import { chosenUserIds } from '#projections/users/query.ts'
import type { CreateMessage } from '#write-api/contract/message.ts'
import type { Parts } from '../act.ts'
import { refused } from '../refusals.ts'

const FRESH_WITHIN_MS = 2_000
const NAMED_MAX = 10
const RETRY_SECONDS = 5

/** Everybody it goes to, as of now. Unknown and deleted users are refused and named. */
export async function chosenRecipients(
  { core, freshness }: Parts,
  { user_ids = [], groups = [], everybody = false }: CreateMessage,
): Promise<IdRange[]> {
  // Whoever has registered by now is among everybody.
  const head = await core.store.headPosition()
  const isFresh = await freshness.waitFor(['users'], head, FRESH_WITHIN_MS)
  // Better nobody for now than some of everybody, and nothing said of who is left out.
  if (!isFresh && (everybody || groups.length > 0)) throw fault('Unavailable', RETRY_SECONDS)
  const chosen = { isEverybody: everybody, groups, userIds: user_ids }
  const ids = await chosenUserIds(core.db, chosen)
  const known = new Set(ids)
  const unknown = user_ids.filter((id) => !known.has(id))
  if (unknown.length > 0) {
    throw refused('RecipientUnknown', { ids: unknown.slice(0, NAMED_MAX).join(', ') })
  }
  return rangesOf(ids)
}
