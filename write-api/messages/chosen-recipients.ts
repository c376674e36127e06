import { type IdRange, rangesOf } from '#domain/message/recipients.ts'
import { optionJson } from '#domain/options/registry.ts'
import { fault, invalidField } from '#infra/http/faults.ts'
import { allOptions } from '#projections/options/query.ts'
import { chosenUserIds } from '#projections/users/query.ts'
import type { CreateMessage } from '#write-api/contract/message.ts'
import type { Deps } from '../act.ts'
import { refused } from '../refusals.ts'

const FRESH_WITHIN_MS = 2_000
const NAMED_MAX = 10
const RETRY_SECONDS = 5

/** Everybody it goes to, as of now. Unknown groups, unknown and deleted users are named. */
export async function chosenRecipients(
  deps: Deps,
  { user_ids = [], groups = [], everybody = false }: CreateMessage,
): Promise<IdRange[]> {
  const { core, freshness } = deps
  // Whoever has registered by now is among everybody.
  const head = await core.store.headPosition()
  const isFresh = await freshness.waitFor(['users'], head, FRESH_WITHIN_MS)
  // Better nobody for now than some of everybody, and nothing said of who is left out.
  if (!isFresh && (everybody || groups.length > 0)) throw fault('Unavailable', RETRY_SECONDS)
  await checkGroups(deps, groups)
  const chosen = { isEverybody: everybody, groups, userIds: user_ids }
  const ids = await chosenUserIds(core.db, chosen)
  const known = new Set(ids)
  const unknown = user_ids.filter((id) => !known.has(id))
  if (unknown.length > 0) {
    throw refused('RecipientUnknown', { ids: unknown.slice(0, NAMED_MAX).join(', ') })
  }
  return rangesOf(ids)
}

/** A group is one of the settings, or one that users have been left in. */
async function checkGroups({ core }: Deps, groups: readonly string[]): Promise<void> {
  if (groups.length === 0) return
  const { values } = await allOptions(core.db)
  const known = optionJson(values, 'GroupRatio') as Readonly<Record<string, unknown>>
  for (const name of groups.filter((one) => !Object.hasOwn(known, one))) {
    const users = await chosenUserIds(core.db, { isEverybody: false, groups: [name], userIds: [] })
    if (users.length > 0) continue
    throw invalidField('groups', {
      zh: `分组「${name}」不存在`,
      en: `there is no group “${name}”`,
    })
  }
}
