import type { FastifyRequest } from 'fastify'
import type { DeductQuota, GrantQuota } from '#domain/account/commands.ts'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { toWire } from '#domain/shared/quota.ts'
import { userDecider } from '#domain/user/decide.ts'
import { type Role, userStream } from '#domain/user/events.ts'
import { onlyAdmin, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { HttpError, invalidField } from '#infra/http/http-errors.ts'
import { languageOf } from '#infra/http/language.ts'
import type { Vault } from '#infra/vault/port.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope, Refused } from '#read-api/contract/envelope.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { AdjustQuota, type QuotaAdjustment, QuotaAdjustments } from '../contract/users.ts'
import { toHttpError } from '../error-catalogue.ts'
import { accountError } from './account-errors.ts'

const NOT_EMPTY = { zh: '请填写原因', en: 'must say why' }

/**
 * Why somebody's group or quota is changed, sealed for the event. Scripts that know no such field
 * send none: then the event has none, and who reads it is told so. An empty one is refused.
 */
export async function sealedReason(
  vault: Vault,
  userId: number,
  reason: string | undefined,
): Promise<{ readonly note?: Sealed }> {
  if (reason === undefined) return {}
  const why = reason.trim()
  if (why === '') throw invalidField('reason', NOT_EMPTY)
  return { note: await vault.seal(userId, why) }
}

/**
 * POST /api/user/quota: adds an amount to balances, or deducts it, with a reason. Each user's
 * change is one append of its own: for several users, the answer says what became of each; for one
 * user, an error is the answer.
 */
export const adjustQuota: Action = (api, deps) => {
  api.post(
    '/api/user/quota',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Add quota to the balances of users, or deduct it',
        body: AdjustQuota,
        response: { 200: Envelope(QuotaAdjustments), 409: Refused },
      },
    },
    async (request, reply) => {
      const { body } = request
      const userIds = userIdsOf(body)
      if (body.reason.trim() === '') {
        throw invalidField('reason', { zh: '请填写原因', en: 'must say why' })
      }
      const items: QuotaAdjustment[] = []
      let position = 0
      for (const userId of userIds) {
        const one = await adjustOne(deps, request, userId, body).catch((error: unknown) => {
          if (body.ids === undefined || !(error instanceof HttpError)) throw error
          return refusalItem(deps, request, userId, error)
        })
        items.push(one.item)
        position = Math.max(position, one.position)
      }
      const shown = items.flatMap(({ id, quota }) => (quota === null ? [] : [[id, quota] as const]))
      await deps.shownBalances.remember(principalOf(request), new Map(shown))
      await waitUntilVisible(deps, reply, ['users', 'balances', 'call-log'], position)
      return success({ items })
    },
  )
}

function userIdsOf({ id, ids }: AdjustQuota): readonly number[] {
  if (id !== undefined && ids === undefined) return [id]
  if (id === undefined && ids !== undefined) return [...new Set(ids)]
  const field = id === undefined ? 'id' : 'ids'
  throw invalidField(field, { zh: 'id 与 ids 须填且只填其一', en: 'give either id or ids' })
}

type Adjusted = { readonly item: QuotaAdjustment; readonly position: number }

/** Throws the error; then nothing of this user was changed. */
async function adjustOne(
  deps: Deps,
  request: FastifyRequest,
  userId: number,
  body: AdjustQuota,
): Promise<Adjusted> {
  const { actors, store, db } = deps.core
  const actorRole = principalOf(request).role as Role
  const mayAct = { type: 'MayAct', actorRole } as const
  // Before the reason is sealed: nobody has a key whom nobody knows.
  const user = await actors.glance(userDecider, userStream(userId))
  const judged = userDecider.decide(mayAct, user)
  if (isCodedError(judged)) throw toHttpError(judged)
  const username = (await findUser(db, userId))?.username ?? ''
  return deps.runExclusive(`user-${userId}`, async () => {
    const stream = accountStream(userId)
    const adjustmentId = adjustmentIdOf(body)
    const ids = await actors.ask(accountDecider, stream, ({ grantIds, deductionIds }) =>
      [...grantIds, ...deductionIds].filter((id) => id.startsWith(prefixOf(body))),
    )
    if (ids.some((id) => id !== adjustmentId)) throw accountError('RequestIdReused')
    const { note } = await sealedReason(deps.core.vault, userId, body.reason)
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

// NOTE: request ids have no colon, so that no prefix is the beginning of another request's.
const prefixOf = ({ request_id }: AdjustQuota): string => `adjust:${request_id}:`

/** What is asked for is a part of it: the same request id for something else is no repetition. */
const adjustmentIdOf = (body: AdjustQuota): string =>
  `${prefixOf(body)}${body.action}:${body.amount}`

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

/** The balance is told to those alone who may act on the user. */
async function refusalItem(
  { core }: Deps,
  request: FastifyRequest,
  userId: number,
  { code, words }: HttpError,
): Promise<Adjusted> {
  const actorRole = principalOf(request).role as Role
  const user = await core.actors.glance(userDecider, userStream(userId))
  const isTheirs = !isCodedError(userDecider.decide({ type: 'MayAct', actorRole }, user))
  const stream = accountStream(userId)
  const quota = isTheirs
    ? toWire(await core.actors.ask(accountDecider, stream, ({ balance }) => balance))
    : null
  const username = isTheirs ? ((await findUser(core.db, userId))?.username ?? '') : ''
  const message = words[languageOf(request)]
  const item = { id: userId, username, outcome: 'refused', quota, code, message } as const
  return { item, position: 0 }
}
