import { accountDecider, heldBy } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { tokenDecider } from '#domain/token/decide.ts'
import { tokensStream } from '#domain/token/events.ts'
import type { CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { type TokenIds, TokenStatuses } from '../contract/tokens.ts'
import { tokenError } from './token-errors.ts'
import { openedName } from './token-names.ts'

/** Each id once. Throws when none was chosen. */
export function idsChosen({ ids }: TokenIds): readonly number[] {
  if (ids.length === 0) throw tokenError('NoTokenChosen')
  return [...new Set(ids)]
}

type Chosen = { readonly userId: number; readonly tokenIds: readonly number[] }

/**
 * 1 enables, 2 disables. All of them or none; those that are so already stay so. What enabling
 * would not bring back, expired or exhausted, is not enabled.
 */
export async function switchTokens(
  { core }: Deps,
  userId: number,
  tokenIds: readonly number[],
  status: 1 | 2,
  context: CommandContext,
): Promise<number> {
  const chosen = { userId, tokenIds }
  const command =
    status === 2
      ? ({ type: 'DisableTokens', ...chosen } as const)
      : ({ type: 'EnableTokens', ...chosen, ...(await unusable(core, chosen, context)) } as const)
  const stream = tokensStream(userId)
  return accepted(await core.actors.handle(tokenDecider, stream, command, context)).position
}

/** By which of them can't be used, whatever their switch says; what calls hold may come back. */
async function unusable(core: Deps['core'], chosen: Chosen, { at }: CommandContext) {
  const { actors } = core
  const { userId, tokenIds } = chosen
  const account = await actors.stateOf(accountDecider, accountStream(userId))
  const exhausted = tokenIds.filter((id) => {
    const { remain, isUnlimited } = account.budgets.get(id) ?? { remain: 0n, isUnlimited: false }
    return !isUnlimited && remain <= 0n && remain + heldBy(id, account) <= 0n
  })
  return { now: Math.floor(at / 1_000), exhausted, names: await namesOf(core, chosen) }
}

async function namesOf({ actors, vault }: Deps['core'], { userId, tokenIds }: Chosen) {
  const names = new Map<number, string>()
  // One that is asked for alone is refused without its name.
  if (tokenIds.length < 2) return names
  const { tokens } = await actors.stateOf(tokenDecider, tokensStream(userId))
  for (const id of tokenIds) {
    const token = tokens.get(id)
    if (token !== undefined) names.set(id, await openedName(vault, userId, token.terms.name))
  }
  return names
}

/** POST /api/token/batch/status: enables (1) or disables (2) several. */
export const switchTokenBatch: Action = (api, deps) => {
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
      const context = contextOf(deps, request)
      const position = await switchTokens(deps, userId, ids, request.body.status, context)
      await waitUntilVisible(deps, reply, ['tokens'], position)
      return done()
    },
  )
}
