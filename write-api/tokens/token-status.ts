import { accountDecider, heldBy } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { tokenDecider } from '#domain/tokens/decide.ts'
import { tokensStream } from '#domain/tokens/events.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { type TokenIds, tokenActions } from '../contract/tokens.ts'
import { tokenError } from './token-errors.ts'
import { decryptName } from './token-names.ts'

/** Returns the ids in the request without duplicates. Throws if there are none. */
export function selectedIds({ ids }: TokenIds): readonly number[] {
  if (ids.length === 0) throw tokenError('NoTokenChosen')
  return [...new Set(ids)]
}

type TokenSelection = { readonly userId: number; readonly tokenIds: readonly number[] }

/**
 * Enables (status 1) or disables (status 2) several tokens in one append. Throws if an expired or
 * exhausted token is to be enabled, because such a token would stay unusable.
 */
export async function setTokensStatus(
  { core }: Deps,
  userId: number,
  tokenIds: readonly number[],
  status: 1 | 2,
  context: CommandContext,
): Promise<number> {
  const selection = { userId, tokenIds }
  const command =
    status === 2
      ? ({ type: 'DisableTokens', ...selection } as const)
      : ({
          type: 'EnableTokens',
          ...selection,
          ...(await unusableTokens(core, selection, context)),
        } as const)
  const stream = tokensStream(userId)
  return accepted(await core.actors.handle(tokenDecider, stream, command, context)).position
}

/**
 * Returns the data with which the command `EnableTokens` rejects unusable tokens: the time in Unix
 * seconds, the ids of exhausted tokens, and the names for the error message. Quota that open calls
 * hold counts as remaining, because the calls may release it.
 */
async function unusableTokens(
  core: Deps['core'],
  selection: TokenSelection,
  { at }: CommandContext,
) {
  const { actors } = core
  const { userId, tokenIds } = selection
  const account = await actors.stateOf(accountDecider, accountStream(userId))
  const exhausted = tokenIds.filter((id) => {
    const { remain, isUnlimited } = account.budgets.get(id) ?? { remain: 0n, isUnlimited: false }
    return !isUnlimited && remain <= 0n && remain + heldBy(id, account) <= 0n
  })
  return { now: Math.floor(at / 1_000), exhausted, names: await namesOf(core, selection) }
}

async function namesOf({ actors, vault }: Deps['core'], { userId, tokenIds }: TokenSelection) {
  const names = new Map<number, string>()
  // The names are only needed for the error message about several tokens.
  if (tokenIds.length < 2) return names
  const { tokens } = await actors.stateOf(tokenDecider, tokensStream(userId))
  for (const id of tokenIds) {
    const token = tokens.get(id)
    if (token !== undefined) names.set(id, await decryptName(vault, userId, token.terms.name))
  }
  return names
}

/** POST /api/token/batch/status: enables (status 1) or disables (status 2) several tokens. */
export const setTokenStatuses: Action = (api, deps) => {
  api.route({
    ...endpoint(tokenActions, 'POST /api/token/batch/status'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const ids = selectedIds(request.body)
      const { userId } = principalOf(request)
      const context = contextOf(deps, request)
      const position = await setTokensStatus(deps, userId, ids, request.body.status, context)
      await waitUntilVisible(deps, reply, ['tokens'], position)
      return done()
    },
  })
}
