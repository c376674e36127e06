import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DeleteChannels, DeleteDisabledChannels } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM, type ChannelEvent } from '#domain/channels/events.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done, success } from '#infra/http/response-envelope.ts'
import { secretRefsOf } from '#projections/channels/query.ts'
import { type Action, accepted, contextOf, type Deps, idOf, waitUntilVisible } from '../action.ts'
import { channelActions } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { deleteChannelSecrets } from './channel-keys-in-vault.ts'
import { assertNoUnfinishedWork, whileSubmissionsPaused } from './check-unfinished-work.ts'

type Deletion = DeleteChannels | DeleteDisabledChannels

/**
 * Returns the ids of the channels that a command deletes, or an empty list if the command is
 * rejected.
 */
const idsToDelete = ({ core }: Deps, command: Deletion): Promise<readonly number[]> =>
  core.actors.ask(channelsDecider, CHANNELS_STREAM, (state) => {
    const events = channelsDecider.decide(command, state)
    return 'code' in events ? [] : events.flatMap(deletedBy)
  })

const deletedBy = ({ type, data }: ChannelEvent): readonly number[] =>
  type === 'ChannelsDeleted' ? data.channelIds : []

/**
 * Deletes channels. Throws 409 if one of them has unfinished tasks or batches. The deletion erases
 * the keys of the channels. Without the keys, results could be neither fetched nor billed, but the
 * provider would still charge for them. `DeleteDisabledChannels` deletes only channels that are
 * disabled or have expired both before and after their unfinished work is counted.
 */
async function deleteUnused(
  deps: Deps,
  command: Deletion,
  context: CommandContext,
): Promise<Deleted> {
  const ids = await idsToDelete(deps, command)
  if (ids.length === 0) return deleteNow(deps, command, context, [])
  // Most channels with unfinished work are found here, before submissions are paused.
  await assertNoUnfinishedWork(deps, ids)
  return whileSubmissionsPaused(deps, ids, context, async (resume) => {
    await assertNoUnfinishedWork(deps, ids)
    const isDisabledOnly = command.type === 'DeleteDisabledChannels'
    const stillDisabled = isDisabledOnly ? new Set(await idsToDelete(deps, command)) : null
    const channelIds = stillDisabled === null ? ids : ids.filter((id) => stillDisabled.has(id))
    const checked =
      stillDisabled === null ? command : ({ type: 'DeleteChannels', channelIds } as const)
    return deleteNow(deps, checked, context, [resume()])
  })
}

type Deleted = { readonly ids: readonly number[]; readonly position: number }

async function deleteNow(
  { core }: Deps,
  command: Deletion,
  context: CommandContext,
  before: readonly AnyStep[],
): Promise<Deleted> {
  const step = { decider: channelsDecider, stream: CHANNELS_STREAM, command }
  const { events, position } = accepted(
    await core.actors.handleTogether([...before, step], context),
  )
  return { ids: (events as readonly ChannelEvent[]).flatMap(deletedBy), position }
}

/** Deletes channels and their secrets. Returns the number of deleted channels. */
async function deleteMany(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { command, isForced }: { readonly command: Deletion; readonly isForced: boolean },
): Promise<number> {
  const { db, vault } = deps.core
  const context = contextOf(deps, request)
  const { ids, position } = isForced
    ? await deleteNow(deps, command, context, [])
    : await deleteUnused(deps, command, context)
  await waitUntilVisible(deps, reply, ['channels'], position)
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
 * DELETE /api/channel/disabled: deletes all channels that are disabled or have expired. Returns the
 * number of deleted channels.
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
