import { redemptionDecider } from '#domain/redemptions/decide.ts'
import { redemptionStream } from '#domain/redemptions/events.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { done } from '#infra/http/response-envelope.ts'
import { type RedemptionKey, redemptionKeys } from '#projections/redemptions/query.ts'
import type { UpdateRedemption } from '#write-api/contract/redemptions.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { redemptionActions } from '../contract/redemptions.ts'
import { executeOnRedemptions } from './delete-and-disable-redemptions.ts'
import { redemptionError } from './redemption-errors.ts'
import { applyRedemptionFields, checkValidUntil } from './redemption-terms-from-request.ts'

/**
 * PUT /api/redemption/: changes a code that is enabled and not used. A gift can also be changed
 * after users have redeemed it. With `?status_only=true`, only the status is changed: 1 enables the
 * code, and 2 disables it.
 */
export const updateRedemption: Action = (api, deps) => {
  api.route({
    ...endpoint(redemptionActions, 'PUT /api/redemption/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { body, query } = request
      const [key] = await redemptionKeys(deps.core.db, [body.id])
      if (key === undefined) throw redemptionError('RedemptionUnknown')
      const context = contextOf(deps, request)
      const position =
        query.status_only === 'true'
          ? await setStatus(deps, key, body, context)
          : await deps.runExclusive(`redemption-${body.id}`, () => change(deps, key, body, context))
      await waitUntilVisible(deps, reply, ['redemptions'], position)
      return done()
    },
  })
}

async function setStatus(
  deps: Deps,
  key: RedemptionKey,
  { status }: UpdateRedemption,
  context: CommandContext,
): Promise<number> {
  if (status !== 1 && status !== 2) {
    throw invalidField('status', { zh: '必须是 1 或 2', en: 'must be 1 or 2' })
  }
  const type = status === 1 ? 'EnableRedemption' : 'DisableRedemption'
  const commandFor = (redemptionId: number) => ({ type, redemptionId }) as const
  return (await executeOnRedemptions(deps, [key], commandFor, context)).position
}

async function change(
  deps: Deps,
  { id: redemptionId, keyLookup }: RedemptionKey,
  fields: UpdateRedemption,
  context: CommandContext,
): Promise<number> {
  const { actors, vault } = deps.core
  const key = fields.key?.trim() ?? ''
  if (key !== '' && vault.keyedHash('redemption-key', key) !== keyLookup) {
    throw invalidField('key', { zh: '兑换码创建后不能修改', en: 'cannot be changed' })
  }
  const stream = redemptionStream(keyLookup)
  const { code } = await actors.stateOf(redemptionDecider, stream)
  if (code?.id !== redemptionId) throw redemptionError('RedemptionUnknown')
  const terms = await applyRedemptionFields(code.terms, fields)
  checkValidUntil(terms, code.terms, context.at)
  const command = { type: 'ChangeRedemption', redemptionId, terms } as const
  return accepted(await actors.handle(redemptionDecider, stream, command, context)).position
}
