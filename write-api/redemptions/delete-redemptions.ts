import Type from 'typebox'
import { type RedemptionCommand, redemptionDecider } from '#domain/redemption/decide.ts'
import { redemptionStream } from '#domain/redemption/events.ts'
import type { CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done, success } from '#infra/http/envelope.ts'
import {
  disabledRedemptionKeys,
  type RedemptionKey,
  redemptionKeys,
  redemptionKeysByName,
} from '#projections/redemptions/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import {
  type Action,
  accepted,
  contextOf,
  type Deps,
  IdParams,
  idOf,
  waitUntilVisible,
} from '../action.ts'
import { RedemptionIds } from '../contract/redemptions.ts'
import { redemptionError } from './redemption-errors.ts'

/** So many streams in one append. */
const TOGETHER_MAX = 200

type Changed = { readonly ids: ReadonlySet<number>; readonly position: number }

/**
 * A command to each of the codes, so many at a time; each such part wholly or not at all. Answers
 * which of them it changed.
 */
export async function decideRedemptions(
  { core: { actors } }: Deps,
  keys: readonly RedemptionKey[],
  commandFor: (redemptionId: number) => RedemptionCommand,
  context: CommandContext,
): Promise<Changed> {
  const ids = new Set<number>()
  let position = 0
  for (let from = 0; from < keys.length; from += TOGETHER_MAX) {
    const steps = keys.slice(from, from + TOGETHER_MAX).map(({ id, keyLookup }) => ({
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

type Terms = { readonly isOneOfMany?: boolean; readonly onlyDisabled?: boolean }

/** Deletes codes, and their keys from the vault once that stands. */
async function removeRedemptions(
  deps: Deps,
  keys: readonly RedemptionKey[],
  terms: Terms,
  context: CommandContext,
): Promise<Changed> {
  const commandFor = (redemptionId: number) =>
    ({ type: 'DeleteRedemption', redemptionId, ...terms }) as const
  const changed = await decideRedemptions(deps, keys, commandFor, context)
  const gone = keys.filter(({ id }) => changed.ids.has(id))
  await Promise.all(gone.map(({ keyRef }) => deps.core.vault.deleteSecret(keyRef)))
  return changed
}

/** DELETE /api/redemption/{id}/. */
export const deleteRedemption: Action = (api, deps) => {
  api.delete(
    '/api/redemption/:id/',
    {
      onRequest: onlyAdmin,
      schema: { summary: 'Delete a redemption code', params: IdParams, response: { 200: Done } },
    },
    async (request, reply) => {
      const keys = await redemptionKeys(deps.core.db, [idOf(request.params)])
      if (keys.length === 0) throw redemptionError('RedemptionUnknown')
      const { position } = await removeRedemptions(deps, keys, {}, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['redemptions'], position)
      return done()
    },
  )
}

const ByName = Type.Object({ name: Type.String({ maxLength: 200 }) })

/** DELETE /api/redemption/delete-by-name: all of exactly this name; answers how many. */
export const deleteByName: Action = (api, deps) => {
  api.delete(
    '/api/redemption/delete-by-name',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Delete every redemption code of this name; answers how many',
        querystring: ByName,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const name = request.query.name.trim()
      if (name === '') throw redemptionError('RedemptionNameRequired')
      const keys = await redemptionKeysByName(deps.core.db, name)
      const terms = { isOneOfMany: true }
      const { ids, position } = await removeRedemptions(deps, keys, terms, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['redemptions'], position)
      return success(ids.size)
    },
  )
}

/** DELETE /api/redemption/delete-disabled: those that still are so; answers how many. */
export const deleteDisabledRedemptions: Action = (api, deps) => {
  api.delete(
    '/api/redemption/delete-disabled',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Delete every disabled redemption code; answers how many',
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const keys = await disabledRedemptionKeys(deps.core.db)
      const terms = { isOneOfMany: true, onlyDisabled: true }
      const { ids, position } = await removeRedemptions(deps, keys, terms, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['redemptions'], position)
      return success(ids.size)
    },
  )
}

/** PUT /api/redemption/batch-disable: the unused ones among them; answers how many. */
export const batchDisable: Action = (api, deps) => {
  api.put(
    '/api/redemption/batch-disable',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Disable the unused ones of these codes; answers how many',
        body: RedemptionIds,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const { ids } = request.body
      if (ids.length === 0) throw redemptionError('NoRedemptionChosen')
      const keys = await redemptionKeys(deps.core.db, ids)
      const commandFor = (redemptionId: number) =>
        ({ type: 'DisableRedemption', redemptionId, isOneOfMany: true }) as const
      const changed = await decideRedemptions(deps, keys, commandFor, contextOf(deps, request))
      await waitUntilVisible(deps, reply, ['redemptions'], changed.position)
      return success(changed.ids.size)
    },
  )
}
