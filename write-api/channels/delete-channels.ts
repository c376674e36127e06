import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DeleteChannels, DeleteDisabledChannels } from '#domain/channels/commands.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { secretRefsOf } from '#projections/channels/query.ts'
import { type Action, type Deps, idOf } from '../action.ts'
import { channelActions } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { deleteChannelSecrets } from './channel-keys-in-vault.ts'
import { executeChannelCommand } from './channel-tags.ts'

/** Deletes channels and their secrets. Returns the number of deleted channels. */
async function deleteMany(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  command: DeleteChannels | DeleteDisabledChannels,
): Promise<number> {
  const { db, vault } = deps.core
  const { events } = await executeChannelCommand(deps, request, reply, command)
  const ids = events.flatMap(({ data }) => ('channelIds' in data ? data.channelIds : []))
  await deleteChannelSecrets(vault, await secretRefsOf(db, ids))
  return ids.length
}

/** DELETE /api/channel/{id}/ */
export const deleteChannel: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'DELETE /api/channel/:id/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const command = { type: 'DeleteChannels', channelIds: [idOf(request.params)] } as const
      await deleteMany(deps, request, reply, command)
      return done()
    },
  })
}

/** POST /api/channel/batch: returns the number of deleted channels. */
export const deleteChannels: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'POST /api/channel/batch'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const channelIds = request.body.ids
      if (channelIds.length === 0) throw channelError('NoChannelToDelete')
      const command = { type: 'DeleteChannels', channelIds } as const
      return success(await deleteMany(deps, request, reply, command))
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
      return success(await deleteMany(deps, request, reply, command))
    },
  })
}
