import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DeleteChannels, DeleteDisabledChannels } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { secretRefsOf } from '#projections/channels/query.ts'
import { countOpenBatchesOf } from '#projections/open-batches/query.ts'
import { countOpenTasksOf } from '#projections/open-tasks/query.ts'
import { type Action, type Deps, idOf } from '../action.ts'
import { channelActions } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { deleteChannelSecrets } from './channel-keys-in-vault.ts'
import { executeChannelCommand } from './channel-tags.ts'

type Deletion = DeleteChannels | DeleteDisabledChannels

const FRESH_WITHIN_MS = 2_000

/**
 * Refuses to delete channels that have unfinished tasks or batches. The deletion erases their keys,
 * after which nobody can fetch or bill the results, although the provider charges for them.
 */
async function checkNothingInFlight({ core, freshness }: Deps, command: Deletion): Promise<void> {
  const { actors, db, store } = core
  const state = await actors.stateOf(channelsDecider, CHANNELS_STREAM)
  const events = channelsDecider.decide(command, state)
  if ('code' in events) return
  const ids = events.flatMap(({ data }) => ('channelIds' in data ? data.channelIds : []))
  if (ids.length === 0) return
  const position = await store.headPosition()
  const names = ['open-tasks', 'open-batches'] as const
  if (!(await freshness.waitFor(names, position, FRESH_WITHIN_MS))) throw httpError('Unavailable')
  const [tasks, batches] = [await countOpenTasksOf(db, ids), await countOpenBatchesOf(db, ids)]
  if (tasks + batches > 0) throw channelError('WorkInFlight', { tasks, batches })
}

/** Deletes channels and their secrets. Returns the number of deleted channels. */
async function deleteMany(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { command, isForced }: { readonly command: Deletion; readonly isForced: boolean },
): Promise<number> {
  const { db, vault } = deps.core
  if (!isForced) await checkNothingInFlight(deps, command)
  const { events } = await executeChannelCommand(deps, request, reply, command)
  const ids = events.flatMap(({ data }) => ('channelIds' in data ? data.channelIds : []))
  await deleteChannelSecrets(vault, await secretRefsOf(db, ids))
  return ids.length
}

/** DELETE /api/channel/{id}/: deletes one channel. */
export const deleteChannel: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'DELETE /api/channel/:id/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const command = { type: 'DeleteChannels', channelIds: [idOf(request.params)] } as const
      const isForced = request.query.force === 'true'
      await deleteMany(deps, request, reply, { command, isForced })
      return done()
    },
  })
}

/** POST /api/channel/batch: deletes several channels. Returns their number. */
export const deleteChannels: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'POST /api/channel/batch'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { ids: channelIds, force: isForced = false } = request.body
      if (channelIds.length === 0) throw channelError('NoChannelToDelete')
      const command = { type: 'DeleteChannels', channelIds } as const
      return success(await deleteMany(deps, request, reply, { command, isForced }))
    },
  })
}

/**
 * DELETE /api/channel/disabled: deletes all disabled channels, whether an admin or the gateway has
 * disabled them. Returns the number of deleted channels.
 */
export const deleteDisabledChannels: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'DELETE /api/channel/disabled'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const now = Math.floor(deps.core.now() / 1_000)
      const command = { type: 'DeleteDisabledChannels', now } as const
      const isForced = request.query.force === 'true'
      return success(await deleteMany(deps, request, reply, { command, isForced }))
    },
  })
}
