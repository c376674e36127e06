import type { SetTokenBudget } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { Quota } from '#domain/shared/quota.ts'
import { tokenDecider } from '#domain/tokens/decide.ts'
import { tokensStream } from '#domain/tokens/events.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { Principal } from '#infra/http/principal.ts'
import { done } from '#infra/http/response-envelope.ts'
import type { UpdateToken } from '#write-api/contract/tokens.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { tokenActions } from '../contract/tokens.ts'
import { accountError } from '../users/account-errors.ts'
import { userMustExist } from '../users/user-must-exist.ts'
import { tokenError } from './token-errors.ts'
import { sealName } from './token-names.ts'
import { setTokensStatus } from './token-status.ts'
import {
  applyTokenFields,
  checkRemainingQuota,
  checkUsableGroup,
} from './token-terms-from-request.ts'

/**
 * PUT /api/token/: changes the fields in the request. With `?status_only=true`, only the status is
 * changed: 1 enables the token, and 2 disables it.
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
  const terms = { name, ...(await applyTokenFields(deps.core, userId, before, fields)) }
  if (terms.group !== before.group) await checkUsableGroup(deps, user, terms.group)
  const command = { type: 'ChangeTerms', userId, tokenId, terms }
  const quota = await requestedQuota(deps, user, fields)
  const steps: AnyStep[] = [
    userMustExist(userId),
    { decider: tokenDecider, stream, command },
    ...budgetSteps(user, fields, quota),
  ]
  const { position } = accepted(await actors.handleTogether(steps, context))
  // The requested quota is remembered as the quota that the caller last saw. The actual quota may
  // differ, because calls may have spent some of it.
  if (quota !== null) {
    await deps.shownBudgets.remember(user, new Map([[tokenId, Number(quota.remain)]]))
  }
  return position
}

/**
 * Returns the step that changes the budget, or no step if nothing changes. `edits` in `quota` is
 * the number of edits that the budget had when the caller read it. If the budget was edited since,
 * the account rejects the step. Without `edits`, the account rejects the step if the remaining
 * quota differs from `expected`. Without both values, the account checks neither.
 */
function budgetSteps(
  { userId }: Principal,
  { id: tokenId, unlimited_quota: isUnlimited }: UpdateToken,
  quota: QuotaChange | null,
): AnyStep[] {
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

type QuotaChange = Pick<SetTokenBudget, 'expected' | 'edits'> & { readonly remain: Quota }

/**
 * Returns the requested remaining quota and the values that the caller has read. Returns null if
 * the quota does not change, as in a complete row that a client sends back.
 */
async function requestedQuota(
  deps: Deps,
  user: Principal,
  fields: UpdateToken,
): Promise<QuotaChange | null> {
  const { id: tokenId, remain_quota: quota, expected_remain_quota: expected } = fields
  if (quota === undefined || quota === expected) return null
  const remainNow = await deps.core.actors.ask(
    accountDecider,
    accountStream(user.userId),
    ({ budgets }) => budgets.get(tokenId)?.remain ?? 0n,
  )
  const remain = BigInt(quota)
  if (remain === remainNow && expected === undefined) return null
  checkRemainingQuota(quota)
  const base = await baseOf(deps, user, fields)
  if (base === 'unknown') throw accountError('TokenBudgetMoved', { remain: String(remainNow) })
  return { remain, ...base }
}

/**
 * Returns the remaining quota that the caller has read, and the number of edits if the request
 * contains both values. If the request does not contain `expected_remain_quota`, the quota that the
 * caller received last is used. Returns an empty object if the caller has received no quota.
 * Returns `'unknown'` if the server could not store the quota that the caller received.
 */
async function baseOf(
  { shownBudgets }: Deps,
  user: Principal,
  { id, expected_remain_quota: named, budget_version: edits }: UpdateToken,
): Promise<Omit<QuotaChange, 'remain'> | 'unknown'> {
  const expected = named === undefined ? await shownBudgets.lastOf(user, id) : BigInt(named)
  if (expected === null) return {}
  if (expected === 'unknown') return expected
  return named === undefined || edits === undefined ? { expected } : { expected, edits }
}
