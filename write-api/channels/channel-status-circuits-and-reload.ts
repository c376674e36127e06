import { channelHealthDecider } from '#domain/channel-health/decide.ts'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type Action, contextOf, waitUntilVisible } from '../action.ts'
import { channelActions } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { changedCount, executeChannelCommand, unixNow } from './execute-channel-command.ts'

/**
 * POST /api/channel/batch/status: enables or disables channels. Returns the number of channels that
 * changed.
 */
export const setChannelsStatus: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'POST /api/channel/batch/status'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { ids: channelIds, status } = request.body
      if (channelIds.length === 0) throw channelError('NoChannelSelected')
      const command =
        status === 1
          ? ({ type: 'EnableChannels', channelIds, now: unixNow(deps) } as const)
          : ({ type: 'DisableChannels', channelIds } as const)
      return success(changedCount(await executeChannelCommand(deps, request, reply, command)))
    },
  })
}

/**
 * POST /api/channel/{id}/circuit/close: closes all circuits of a channel, its models and its keys.
 * A circuit is open while calls avoid something that has failed. Calls then use the channel again
 * immediately. Returns the number of closed circuits, which may be 0.
 */
export const closeCircuits: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'POST /api/channel/:id/circuit/close'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const channelId = Number(request.params.id)
      const { actors } = deps.core
      const { channels } = await actors.stateOf(channelsDecider, CHANNELS_STREAM)
      if (!channels.has(channelId)) throw channelError('ChannelUnknown')
      const outcome = await actors.handle(
        channelHealthDecider,
        channelHealthStream(channelId),
        { type: 'CloseCircuits', reason: 'admin' },
        contextOf(deps, request),
      )
      if (!outcome.isDone) throw new Error('closing circuits is never rejected')
      await waitUntilVisible(deps, reply, ['channel-health', 'channel-timeline'], outcome.position)
      return success(outcome.events.length)
    },
  })
}

/**
 * POST /api/channel/fix: makes all relay processes reload their channels. Returns the number of
 * channels.
 */
export const reloadChannels: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'POST /api/channel/fix'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { events } = await executeChannelCommand(deps, request, reply, { type: 'FixAbilities' })
      const [fixed] = events
      return success(fixed?.type === 'ChannelAbilitiesFixed' ? fixed.data.count : 0)
    },
  })
}
