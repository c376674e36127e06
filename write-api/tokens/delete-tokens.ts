import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { tokenDecider } from '#domain/tokens/decide.ts'
import { type TokenEvent, tokensStream } from '#domain/tokens/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { type Action, accepted, contextOf, type Deps, idOf, waitUntilVisible } from '../action.ts'
import { tokenActions } from '../contract/tokens.ts'
import { selectedIds } from './token-status.ts'

/**
 * Deletes tokens and closes their budgets in one append, and then deletes their keys. If one of the
 * tokens is unknown, no token is deleted.
 */
async function deleteMany(
  { core: { actors, vault } }: Deps,
  userId: number,
  tokenIds: readonly number[],
  context: CommandContext,
): Promise<number> {
  const stream = tokensStream(userId)
  const { tokens } = await actors.stateOf(tokenDecider, stream)
  const steps = [
    { decider: tokenDecider, stream, command: { type: 'DeleteTokens', userId, tokenIds } },
    {
      decider: accountDecider,
      stream: accountStream(userId),
      command: { type: 'CloseTokenBudgets', userId, tokenIds },
    },
  ]
  const { position } = accepted(await actors.handleTogether(steps, context))
  const keyRefs = tokenIds.flatMap((tokenId) => tokens.get(tokenId)?.keyRef ?? [])
  await Promise.all(keyRefs.map((keyRef) => vault.deleteSecret(keyRef)))
  return position
}

/** DELETE /api/token/{id}/: deletes one token. */
export const deleteToken: Action = (api, deps) => {
  api.route({
    ...endpoint(tokenActions, 'DELETE /api/token/:id/'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const { userId } = principalOf(request)
      const context = contextOf(deps, request)
      const position = await deleteMany(deps, userId, [idOf(request.params)], context)
      await waitUntilVisible(deps, reply, ['tokens', 'balances'], position)
      return done()
    },
  })
}

/** POST /api/token/batch: deletes several tokens. Returns their number. */
export const deleteTokens: Action = (api, deps) => {
  api.route({
    ...endpoint(tokenActions, 'POST /api/token/batch'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const ids = selectedIds(request.body)
      const { userId } = principalOf(request)
      const position = await deleteMany(deps, userId, ids, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['tokens', 'balances'], position)
      return success(ids.length)
    },
  })
}

/**
 * Deletes the keys of all tokens that an erased user ever had. The references of the keys come from
 * the events, so that this function can be repeated if it was interrupted.
 */
export async function deleteTokenKeys(
  { store, vault }: Pick<Core, 'store' | 'vault'>,
  userId: number,
): Promise<void> {
  const events = (await store.readStream(tokensStream(userId))) as Recorded<TokenEvent>[]
  for (const { type, data } of events) {
    if (type !== 'TokensCreated') continue
    for (const { keyRef } of data.tokens) await vault.deleteSecret(keyRef)
  }
}
