import type { EventStore } from '#infra/event-store/port.ts'
import type { Views } from '../views/start-views.ts'
import type { StoredResponses } from './stored-response-owners.ts'

type Deps = {
  readonly storedResponses: Pick<StoredResponses, 'contents'>
  readonly views: Pick<Views, 'tokens' | 'reached'>
  readonly store: Pick<EventStore, 'headPosition'>
}

/**
 * Deletes the contents of deleted tokens. Nobody can fetch or delete them any more, because this
 * needs the token, and they would count towards the maximum of their user. A session of the console
 * calls with a negative token id and is never deleted.
 */
export async function removeContentsOfDeletedTokens({
  storedResponses: { contents },
  views,
  store,
}: Deps): Promise<void> {
  const tokenIds = await contents.tokenIds()
  // Each of these tokens was created before its contents were stored. Once the views include all
  // events of that time, a token that they don't know was deleted.
  await views.reached(await store.headPosition())
  const deleted = tokenIds.filter((id) => id > 0 && !views.tokens.has(id))
  if (deleted.length > 0) await contents.removeOfTokens(deleted)
}
