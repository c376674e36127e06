import type { EventStore } from '#infra/event-store/port.ts'
import type { Vault } from '#infra/vault/port.ts'
import type { Views } from '../views/start-views.ts'
import type { StoredResponses } from './stored-response-owners.ts'

type Deps = {
  readonly storedResponses: Pick<StoredResponses, 'contents'>
  readonly views: Pick<Views, 'tokens' | 'reached'>
  readonly store: Pick<EventStore, 'headPosition'>
  readonly vault: Pick<Vault, 'withDataKey'>
}

/**
 * Deletes the stored response contents that belong to deleted tokens, or to users whose data key is
 * erased. Nobody can read these contents any more, because reading needs the token and the data key
 * of the user. Without the deletion, these contents would still count towards the maximum of the
 * user and of the site. The token id of a session of the console is negative and never counts as
 * deleted.
 */
export async function removeUnreadableContents({
  storedResponses: { contents },
  views,
  store,
  vault,
}: Deps): Promise<void> {
  const owners = await contents.owners()
  if (owners.length === 0) return
  const withKey = new Set(await vault.withDataKey([...new Set(owners.map((one) => one.userId))]))
  // Each of these tokens was created before its contents were stored. Once the views include all
  // events up to now, a token that is missing in the views was deleted.
  await views.reached(await store.headPosition())
  const isDeleted = (tokenId: number) => tokenId > 0 && !views.tokens.has(tokenId)
  const unreadable = owners.flatMap(({ tokenId, userId }) =>
    isDeleted(tokenId) || !withKey.has(userId) ? [tokenId] : [],
  )
  if (unreadable.length > 0) await contents.removeOfTokens(unreadable)
}
