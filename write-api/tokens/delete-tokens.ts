import Type from 'typebox'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { tokenDecider } from '#domain/token/decide.ts'
import { type TokenEvent, tokensStream } from '#domain/token/events.ts'
import type { Core } from '#infra/core.ts'
import type { CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Done, done, success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import {
  type Action,
  accepted,
  contextOf,
  type Deps,
  IdParams,
  idOf,
  waitUntilVisible,
} from '../action.ts'
import { TokenIds } from '../contract/tokens.ts'
import { idsChosen } from './switch-tokens.ts'

/**
 * Deletes all of them or, where one is unknown, none: the keys stop working, what they had left is
 * closed. Answers the position.
 */
async function removeTokens(
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

/** DELETE /api/token/{id}/. */
export const deleteToken: Action = (api, deps) => {
  api.delete(
    '/api/token/:id/',
    {
      onRequest: onlyUser,
      schema: { summary: 'Delete a token', params: IdParams, response: { 200: Done } },
    },
    async (request, reply) => {
      const { userId } = principalOf(request)
      const context = contextOf(deps, request)
      const position = await removeTokens(deps, userId, [idOf(request.params)], context)
      await waitUntilVisible(deps, reply, ['tokens', 'balances'], position)
      return done()
    },
  )
}

/** POST /api/token/batch: deletes all of them, or none; answers how many. */
export const deleteTokens: Action = (api, deps) => {
  api.post(
    '/api/token/batch',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'Delete several tokens, all or none',
        body: TokenIds,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const ids = idsChosen(request.body)
      const { userId } = principalOf(request)
      const position = await removeTokens(deps, userId, ids, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['tokens', 'balances'], position)
      return success(ids.length)
    },
  )
}

/**
 * Once a user was erased: the keys of all tokens there ever were. By the events, so that one whose
 * removal was cut short is gone too; again and again, if need be.
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
