import { type RedemptionCommand, redemptionDecider } from '#domain/redemptions/decide.ts'
import { redemptionStream } from '#domain/redemptions/events.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import {
  disabledRedemptionKeys,
  type RedemptionKey,
  redemptionKeys,
  redemptionKeysByName,
} from '#projections/redemptions/query.ts'
import { type Action, accepted, contextOf, type Deps, idOf, waitUntilVisible } from '../action.ts'
import { redemptionActions } from '../contract/redemptions.ts'
import { redemptionError } from './redemption-errors.ts'

/** The maximum number of codes that one append changes. Each code has a separate stream. */
const BATCH_MAX = 200

type ChangeResult = { readonly ids: ReadonlySet<number>; readonly position: number }

/**
 * Executes a command on several codes, with one append per batch of codes. Returns the ids of the
 * codes that changed.
 */
export async function executeOnRedemptions(
  { core: { actors } }: Deps,
  keys: readonly RedemptionKey[],
  commandFor: (redemptionId: number) => RedemptionCommand,
  context: CommandContext,
): Promise<ChangeResult> {
  const ids = new Set<number>()
  let position = 0
  for (let from = 0; from < keys.length; from += BATCH_MAX) {
    const steps = keys.slice(from, from + BATCH_MAX).map(({ id, keyLookup }) => ({
      decider: redemptionDecider,
      stream: redemptionStream(keyLookup),
      command: commandFor(id),
    }))
    const done = accepted(await actors.handleTogether(steps, context))
    for (const { data } of done.events) ids.add((data as { redemptionId: number }).redemptionId)
    position = Math.max(position, done.position)
  }
  return { ids, position }
}

type DeleteConditions = { readonly isOneOfMany?: boolean; readonly onlyDisabled?: boolean }

/** Deletes codes, and then deletes their keys from the vault. */
async function deleteMany(
  deps: Deps,
  keys: readonly RedemptionKey[],
  conditions: DeleteConditions,
  context: CommandContext,
): Promise<ChangeResult> {
  const commandFor = (redemptionId: number) =>
    ({ type: 'DeleteRedemption', redemptionId, ...conditions }) as const
  const changed = await executeOnRedemptions(deps, keys, commandFor, context)
  const deleted = keys.filter(({ id }) => changed.ids.has(id))
  await Promise.all(deleted.map(({ keyRef }) => deps.core.vault.deleteSecret(keyRef)))
  return changed
}

/** DELETE /api/redemption/{id}/: deletes one code. */
export const deleteRedemption: Action = (api, deps) => {
  api.route({
    ...endpoint(redemptionActions, 'DELETE /api/redemption/:id/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const keys = await redemptionKeys(deps.core.db, [idOf(request.params)])
      if (keys.length === 0) throw redemptionError('RedemptionUnknown')
      const { position } = await deleteMany(deps, keys, {}, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['redemptions'], position)
      return done()
    },
  })
}

/**
 * DELETE /api/redemption/delete-by-name: deletes all codes with exactly this name. Returns their
 * number.
 */
export const deleteRedemptionsByName: Action = (api, deps) => {
  api.route({
    ...endpoint(redemptionActions, 'DELETE /api/redemption/delete-by-name'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const name = request.query.name.trim()
      if (name === '') throw redemptionError('RedemptionNameRequired')
      const keys = await redemptionKeysByName(deps.core.db, name)
      const conditions = { isOneOfMany: true }
      const { ids, position } = await deleteMany(deps, keys, conditions, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['redemptions'], position)
      return success(ids.size)
    },
  })
}

/** DELETE /api/redemption/delete-disabled: deletes all disabled codes. Returns their number. */
export const deleteDisabledRedemptions: Action = (api, deps) => {
  api.route({
    ...endpoint(redemptionActions, 'DELETE /api/redemption/delete-disabled'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const keys = await disabledRedemptionKeys(deps.core.db)
      const conditions = { isOneOfMany: true, onlyDisabled: true }
      const { ids, position } = await deleteMany(deps, keys, conditions, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['redemptions'], position)
      return success(ids.size)
    },
  })
}

/**
 * PUT /api/redemption/batch-disable: disables several codes. Used and disabled codes are skipped.
 * Returns the number of disabled codes.
 */
export const disableRedemptions: Action = (api, deps) => {
  api.route({
    ...endpoint(redemptionActions, 'PUT /api/redemption/batch-disable'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { ids } = request.body
      if (ids.length === 0) throw redemptionError('NoRedemptionChosen')
      const keys = await redemptionKeys(deps.core.db, ids)
      const commandFor = (redemptionId: number) =>
        ({ type: 'DisableRedemption', redemptionId, isOneOfMany: true }) as const
      const changed = await executeOnRedemptions(deps, keys, commandFor, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['redemptions'], changed.position)
      return success(changed.ids.size)
    },
  })
}
