import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { tokenDecider } from '#domain/token/decide.ts'
import { tokensStream } from '#domain/token/events.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { endpoint } from '#infra/http/endpoint.ts'
import { done } from '#infra/http/envelope.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import type { Principal } from '#infra/http/principal.ts'
import type { UpdateToken } from '#write-api/contract/tokens.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { tokenActions } from '../contract/tokens.ts'
import { tokenError } from './token-errors.ts'
import { sealName } from './token-names.ts'
import { setTokensStatus } from './token-status.ts'
import { checkRemain, checkUsableGroup, termsWith } from './token-terms.ts'

/**
 * PUT /api/token/: changes the given fields of a token. With `?status_only=true`, only the status
 * is changed: 1 enables the token and 2 disables it.
 */
export const updateToken: Action = (api, deps) => {
  api.route({
    ...endpoint(tokenActions, 'PUT /api/token/'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const user = principalOf(request)
      const { body, query } = request
      const context = contextOf(deps, request)
      const position =
        query.status_only === 'true'
          ? await setTokensStatus(deps, user.userId, [body.id], statusOf(body), context)
          : await deps.runExclusive(`token-${body.id}`, () => change(deps, user, body, context))
      await waitUntilVisible(deps, reply, ['tokens', 'balances'], position)
      return done()
    },
  })
}

function statusOf({ status }: UpdateToken): 1 | 2 {
  if (status === 1 || status === 2) return status
  throw invalidField('status', { zh: '必须是 1 或 2', en: 'must be 1 or 2' })
}

async function change(
  deps: Deps,
  user: Principal,
  fields: UpdateToken,
  context: CommandContext,
): Promise<number> {
  const { actors } = deps.core
  const { userId } = user
  const { id: tokenId } = fields
  const stream = tokensStream(userId)
  const { tokens } = await actors.stateOf(tokenDecider, stream)
  const token = tokens.get(tokenId)
  if (token === undefined) throw tokenError('TokenUnknown')
  const { name: nameBefore, ...before } = token.terms
  const name = await sealName(deps.core.vault, userId, fields.name, nameBefore)
  const terms = { name, ...(await termsWith(deps.core, userId, before, fields)) }
  if (terms.group !== before.group) await checkUsableGroup(deps, user, terms.group)
  const command = { type: 'ChangeTerms', userId, tokenId, terms }
  const steps: AnyStep[] = [
    { decider: tokenDecider, stream, command },
    ...(await budgetSteps(deps, userId, fields)),
  ]
  return accepted(await actors.handleTogether(steps, context)).position
}

/**
 * Returns the step that sets the budget, or no step when the budget is unchanged, so that a caller
 * can send back a complete row.
 */
async function budgetSteps(
  { core }: Deps,
  userId: number,
  { id: tokenId, remain_quota: quota, unlimited_quota: unlimited }: UpdateToken,
): Promise<AnyStep[]> {
  if (quota === undefined && unlimited === undefined) return []
  const stream = accountStream(userId)
  const { budgets } = await core.actors.stateOf(accountDecider, stream)
  const before = budgets.get(tokenId) ?? { remain: 0n, isUnlimited: false }
  const remain = quota === undefined ? before.remain : BigInt(quota)
  const isUnlimited = unlimited ?? before.isUnlimited
  if (remain === before.remain && isUnlimited === before.isUnlimited) return []
  if (remain !== before.remain) checkRemain(Number(remain))
  const command = { type: 'SetTokenBudget', userId, tokenId, remain, isUnlimited }
  return [{ decider: accountDecider, stream, command }]
}
