import type { SetTokenBudget } from '#domain/account/commands.ts'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { tokenDecider } from '#domain/token/decide.ts'
import { tokensStream } from '#domain/token/events.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
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
    ...(await budgetSteps(deps, user, fields)),
  ]
  const { position } = accepted(await actors.handleTogether(steps, context))
  await rememberBudget(deps, user, fields)
  return position
}

/**
 * Returns the step that sets the budget, or no step when the budget is unchanged. In the append,
 * the account compares the token's remaining quota with the expected one.
 */
async function budgetSteps(deps: Deps, user: Principal, fields: UpdateToken): Promise<AnyStep[]> {
  const { userId } = user
  const { id: tokenId, unlimited_quota: isUnlimited } = fields
  const quota = await requestedQuota(deps, user, fields)
  if (quota === null && isUnlimited === undefined) return []
  const command: SetTokenBudget = {
    type: 'SetTokenBudget',
    userId,
    tokenId,
    ...quota,
    ...(isUnlimited === undefined ? {} : { isUnlimited }),
  }
  return [{ decider: accountDecider, stream: accountStream(userId), command }]
}

/**
 * Returns the requested remaining quota with the expected one. Returns null when the remaining
 * quota is unchanged, so that a caller can send back a complete row.
 */
async function requestedQuota(
  { core, shownBudgets }: Deps,
  user: Principal,
  { id: tokenId, remain_quota: quota, expected_remain_quota: expectedQuota }: UpdateToken,
): Promise<Pick<SetTokenBudget, 'remain' | 'expected'> | null> {
  if (quota === undefined || quota === expectedQuota) return null
  const stream = accountStream(user.userId)
  const remainNow = await core.actors.ask(
    accountDecider,
    stream,
    ({ budgets }) => budgets.get(tokenId)?.remain ?? 0n,
  )
  const remain = BigInt(quota)
  if (remain === remainNow && expectedQuota === undefined) return null
  checkRemain(quota)
  const expected =
    expectedQuota === undefined ? await shownBudgets.lastOf(user, tokenId) : BigInt(expectedQuota)
  return expected === null ? { remain } : { remain, expected }
}

/**
 * Stores the remaining quota that the caller has set, so that the caller can set it again without
 * reading it first.
 */
async function rememberBudget(
  { shownBudgets }: Deps,
  user: Principal,
  { id, remain_quota: quota, expected_remain_quota: expectedQuota }: UpdateToken,
): Promise<void> {
  if (quota === undefined || quota === expectedQuota) return
  await shownBudgets.remember(user, new Map([[id, quota]]))
}
