import type { FastifyRequest } from 'fastify'
import type { DeductQuota, GrantQuota } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { toWire } from '#domain/shared/quota.ts'
import { userDecider } from '#domain/users/decide.ts'
import { type Role, userStream } from '#domain/users/events.ts'
import { onlyAdmin, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { HttpError, invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { success } from '#infra/http/response-envelope.ts'
import type { Vault } from '#infra/vault/port.ts'
import { findUser } from '#projections/users/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { type AdjustQuota, type QuotaAdjustment, userActions } from '../contract/users.ts'
import { toHttpError } from '../domain-error-catalogue.ts'
import { accountError } from './account-errors.ts'

const REASON_REQUIRED = { zh: '请填写原因', en: 'must not be empty' }

/**
 * Returns the encrypted reason for a change of the group or quota, as the member `note` of an
 * event. Returns an empty object if no reason is given. Throws if the reason is empty.
 */
export async function sealReason(
  vault: Vault,
  userId: number,
  reason: string | undefined,
): Promise<{ readonly note?: Sealed }> {
  if (reason === undefined) return {}
  const text = reason.trim()
  if (text === '') throw invalidField('reason', REASON_REQUIRED)
  return { note: await vault.seal(userId, text) }
}

/**
 * POST /api/user/quota: adds an amount to the balances of users, or deducts it. Each user's balance
 * is changed in a separate append. The response to a request with `ids` has a result for each user,
 * even if some changes are rejected. A request with `id` fails if the change is rejected.
 */
export const adjustQuota: Action = (api, deps) => {
  api.route({
    ...endpoint(userActions, 'POST /api/user/quota'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { body } = request
      const userIds = userIdsOf(body)
      if (body.reason.trim() === '') {
        throw invalidField('reason', REASON_REQUIRED)
      }
      const items: QuotaAdjustment[] = []
      let position = 0
      for (const userId of userIds) {
        const result = await adjustOne(deps, request, userId, body).catch((error: unknown) => {
          if (body.ids === undefined || !(error instanceof HttpError)) throw error
          return rejectedResult(deps, request, userId, error)
        })
        items.push(result.item)
        position = Math.max(position, result.position)
      }
      const balances = items.flatMap(({ id, quota }) =>
        quota === null ? [] : [[id, quota] as const],
      )
      await deps.shownBalances.remember(principalOf(request), new Map(balances))
      await waitUntilVisible(deps, reply, ['users', 'balances', 'call-log'], position)
      return success({ items })
    },
  })
}

function userIdsOf({ id, ids }: AdjustQuota): readonly number[] {
  if (id !== undefined && ids === undefined) return [id]
  if (id === undefined && ids !== undefined) return [...new Set(ids)]
  const field = id === undefined ? 'id' : 'ids'
  throw invalidField(field, {
    zh: 'id 与 ids 须填且只填其一',
    en: 'exactly one of id and ids is required',
  })
}

type AdjustmentResult = { readonly item: QuotaAdjustment; readonly position: number }

/** Changes the balance of one user. Throws if the change is rejected. */
async function adjustOne(
  deps: Deps,
  request: FastifyRequest,
  userId: number,
  body: AdjustQuota,
): Promise<AdjustmentResult> {
  const { actors, store, db } = deps.core
  const actorRole = principalOf(request).role as Role
  const mayAct = { type: 'MayAct', actorRole } as const
  // The user is checked before the reason is encrypted. Encryption creates a data key, which an
  // unknown user must not have.
  const user = await actors.peek(userDecider, userStream(userId))
  const decided = userDecider.decide(mayAct, user)
  if (isCodedError(decided)) throw toHttpError(decided)
  const username = (await findUser(db, userId))?.username ?? ''
  return deps.runExclusive(`user-${userId}`, async () => {
    const stream = accountStream(userId)
    const prefixes = prefixesOf(deps.core.vault, body)
    const existingIds = await actors.ask(accountDecider, stream, ({ grantIds, deductionIds }) =>
      [...grantIds, ...deductionIds].filter((id) =>
        prefixes.some((prefix) => id.startsWith(prefix)),
      ),
    )
    const candidateIds = prefixes.map((prefix) => adjustmentIdOf(prefix, body))
    if (existingIds.some((id) => !candidateIds.includes(id))) throw accountError('RequestIdReused')
    const adjustmentId = existingIds[0] ?? candidateIds[0] ?? ''
    const { note } = await sealReason(deps.core.vault, userId, body.reason)
    const command = commandOf(userId, adjustmentId, body, note)
    const steps = [
      { decider: userDecider, stream: userStream(userId), command: mayAct },
      { decider: accountDecider, stream, command },
    ]
    const outcome = await actors.handleTogether(steps, contextOf(deps, request))
    if (!outcome.isDone && outcome.error.code === 'InsufficientQuota') {
      const name = username === '' ? `#${userId}` : username
      throw accountError('DeductionBeyondBalance', { ...outcome.error.params, name })
    }
    const { events } = accepted(outcome)
    const balance = await actors.ask(accountDecider, stream, (state) => state.balance)
    const result = events.length > 0 ? 'done' : 'repeated'
    const item = { id: userId, username, outcome: result, quota: toWire(balance) } as const
    return { item, position: await store.headPosition() }
  })
}

/**
 * Returns two prefixes of adjustment ids. The first prefix is for new adjustments and contains a
 * keyed hash of the request id. The request id itself may contain personal data, which could not be
 * erased from events. The second prefix contains the request id itself, to find adjustments of
 * earlier releases. A request id contains no colon, so a prefix of one request id never matches
 * another request id.
 */
const prefixesOf = (vault: Vault, { request_id: id }: AdjustQuota): readonly string[] =>
  [vault.keyedHash('adjustment-request', id), id].map((part) => `adjust:${part}:`)

/**
 * Returns the id of an adjustment. The id contains the action and the amount, so that a request
 * with the same `request_id` but another action or amount is detected and rejected.
 */
const adjustmentIdOf = (prefix: string, { action, amount }: AdjustQuota): string =>
  `${prefix}${action}:${amount}`

function commandOf(
  userId: number,
  adjustmentId: string,
  { action, amount: units }: AdjustQuota,
  note: GrantQuota['note'],
): GrantQuota | DeductQuota {
  const amount = BigInt(units)
  const rest = { userId, amount, reason: 'admin', ...(note === undefined ? {} : { note }) } as const
  return action === 'add'
    ? { type: 'GrantQuota', grantId: adjustmentId, ...rest }
    : { type: 'DeductQuota', deductionId: adjustmentId, ...rest }
}

/**
 * Returns the result for a user for whom the change was rejected. The result contains the balance
 * only if the caller may act on the user.
 */
async function rejectedResult(
  { core }: Deps,
  request: FastifyRequest,
  userId: number,
  { code, translatedMessage }: HttpError,
): Promise<AdjustmentResult> {
  const actorRole = principalOf(request).role as Role
  const user = await core.actors.peek(userDecider, userStream(userId))
  const mayActOnUser = !isCodedError(userDecider.decide({ type: 'MayAct', actorRole }, user))
  const stream = accountStream(userId)
  const quota = mayActOnUser
    ? toWire(await core.actors.ask(accountDecider, stream, ({ balance }) => balance))
    : null
  const username = mayActOnUser ? ((await findUser(core.db, userId))?.username ?? '') : ''
  const message = translatedMessage[languageOf(request)]
  const item = { id: userId, username, outcome: 'refused', quota, code, message } as const
  return { item, position: 0 }
}
