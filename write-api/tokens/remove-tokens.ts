import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { tokenDecider } from '#domain/token/decide.ts'
import { tokensStream } from '#domain/token/events.ts'
import type { ActContext } from '#infra/event-store/actors-port.ts'
import { accepted, type Deps } from '../act.ts'

/**
 * Deletes all of them or, where one is unknown, none: the keys stop working, what they had left is
 * closed. Answers the position.
 */
export async function removeTokens(
  { core: { actors, vault } }: Deps,
  userId: number,
  tokenIds: readonly number[],
  context: ActContext,
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
