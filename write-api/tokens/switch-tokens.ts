import { tokenDecider } from '#domain/token/decide.ts'
import { tokensStream } from '#domain/token/events.ts'
import type { ActContext } from '#infra/event-store/actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { TokenStatuses } from '#write-api/contract/token.ts'
import { type Act, accepted, contextOf, type Parts, visibleIn } from '../act.ts'
import { idsChosen } from './token-choice.ts'

/** 1 enables, 2 disables. All of them or none; those that are so already stay so. */
export async function switchTokens(
  { core }: Parts,
  userId: number,
  tokenIds: readonly number[],
  status: 1 | 2,
  context: ActContext,
): Promise<number> {
  const command = {
    type: status === 1 ? 'EnableTokens' : 'DisableTokens',
    userId,
    tokenIds,
  } as const
  const stream = tokensStream(userId)
  return accepted(await core.actors.handle(tokenDecider, stream, command, context)).position
}

/** As `switchTokens`, of one by itself: an expired one is not enabled. */
export async function switchToken(
  parts: Parts,
  userId: number,
  tokenId: number,
  status: 1 | 2,
  context: ActContext,
): Promise<number> {
  if (status === 2) return switchTokens(parts, userId, [tokenId], status, context)
  const now = Math.floor(context.at / 1_000)
  const command = { type: 'EnableToken', userId, tokenId, now } as const
  const { actors } = parts.core
  return accepted(await actors.handle(tokenDecider, tokensStream(userId), command, context))
    .position
}

/** POST /api/token/batch/status: enables (1) or disables (2) several. */
export const switchTokenBatch: Act = (api, parts) => {
  api.post(
    '/api/token/batch/status',
    {
      onRequest: onlyUser,
      schema: {
        summary: 'Enable (1) or disable (2) several tokens, all or none',
        body: TokenStatuses,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const ids = idsChosen(request.body)
      const { userId } = principalOf(request)
      const context = contextOf(parts, request)
      const position = await switchTokens(parts, userId, ids, request.body.status, context)
      await visibleIn(parts, reply, ['tokens'], position)
      return done()
    },
  )
}
