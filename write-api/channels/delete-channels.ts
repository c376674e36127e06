import type { FastifyReply, FastifyRequest } from 'fastify'
import { isExpired } from '#domain/channels/change-status.ts'
import type {
  ChannelCommand,
  DeleteChannels,
  DeleteDisabledChannels,
} from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channels/events.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { secretRefsOf } from '#projections/channels/query.ts'
import { type Action, accepted, contextOf, type Deps, idOf } from '../action.ts'
import { channelActions } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { deleteChannelSecrets } from './channel-keys-in-vault.ts'
import { executeChannelCommand } from './channel-tags.ts'
import {
  countWorkAndSubmissions,
  countWorkOf,
  isAnyIn,
  type WorkInFlight,
} from './work-in-flight.ts'

type Deletion = DeleteChannels | DeleteDisabledChannels

/** Returns the ids of the channels that a command deletes, and of those that get new work. */
async function channelsOf({ core }: Deps, command: Deletion) {
  const now = core.now() / 1_000
  return core.actors.ask(channelsDecider, CHANNELS_STREAM, (state) => {
    const events = channelsDecider.decide(command, state)
    const ids = 'code' in events ? [] : events.flatMap(deletedBy)
    const enabled = ids.filter((id) => {
      const { status, terms } = state.channels.get(id) ?? {}
      return status === 'enabled' && !isExpired(terms?.expiredTime ?? -1, now)
    })
    return { ids, enabled }
  })
}

const deletedBy = ({ data }: ChannelEvent): readonly number[] =>
  'channelIds' in data ? data.channelIds : []

/**
 * Refuses to delete channels that have unfinished tasks or batches. The deletion erases their keys,
 * after which nobody can fetch or bill the results, although the provider charges for them.
 *
 * Channels are disabled before the work is counted for the last time. The relay asks whether a
 * channel is enabled after it has recorded a submission, so each submission is either counted or
 * not sent. Channels that stay are enabled again. Returns the ids of the channels.
 */
async function checkNothingInFlight(
  deps: Deps,
  request: FastifyRequest,
  command: Deletion,
): Promise<readonly number[]> {
  const { ids, enabled } = await channelsOf(deps, command)
  if (ids.length === 0) return ids
  refuseWork(await countWorkOf(deps, ids))
  const context = contextOf(deps, request)
  const handle = (command: ChannelCommand) =>
    deps.core.actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  if (enabled.length > 0) {
    accepted(await handle({ type: 'DisableChannels', channelIds: enabled }))
  }
  try {
    refuseWork(await countWorkAndSubmissions(deps, ids))
  } catch (error) {
    const now = Math.floor(deps.core.now() / 1_000)
    // One that was deleted or has expired meanwhile must not keep the others disabled.
    for (const id of enabled) await handle({ type: 'EnableChannels', channelIds: [id], now })
    throw error
  }
  return ids
}

/** Leaves out channels that were disabled after the work was counted, or enabled again. */
async function limitedTo(
  checked: readonly number[],
  deps: Deps,
  command: Deletion,
): Promise<Deletion> {
  if (command.type === 'DeleteChannels') return command
  const { ids } = await channelsOf(deps, command)
  return { type: 'DeleteChannels', channelIds: ids.filter((id) => checked.includes(id)) }
}

function refuseWork(work: WorkInFlight): void {
  if (isAnyIn(work)) throw channelError('WorkInFlight', work)
}

/** Deletes channels and their secrets. Returns the number of deleted channels. */
async function deleteMany(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { command, isForced }: { readonly command: Deletion; readonly isForced: boolean },
): Promise<number> {
  const { db, vault } = deps.core
  const checked = isForced
    ? command
    : await limitedTo(await checkNothingInFlight(deps, request, command), deps, command)
  const { events } = await executeChannelCommand(deps, request, reply, checked)
  const ids = events.flatMap(deletedBy)
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
