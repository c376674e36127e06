import type { FastifyReply, FastifyRequest } from 'fastify'
import { channelHealthDecider } from '#domain/channel-health/decide.ts'
import { channelHealthStream } from '#domain/channel-health/events.ts'
import type { ChannelCommand } from '#domain/channels/commands.ts'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM, type ChannelEvent, type TagChange } from '#domain/channels/events.ts'
import type { Done } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { namesIn } from '#read-api/contract/resource-field-definition.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { channelActions, type UpdateTag } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { checkGroups } from './check-channel-groups.ts'

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
 * While a circuit is open, calls avoid a channel, model or key that has failed. After this request,
 * calls use the channel, its models and its keys again. Returns the number of closed circuits,
 * which may be 0.
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

/** POST /api/channel/batch/tag: sets the tag of several channels. A null tag removes the tag. */
export const tagChannels: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'POST /api/channel/batch/tag'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { ids: channelIds, tag } = request.body
      if (channelIds.length === 0) throw channelError('NoChannelToTag')
      const command = { type: 'TagChannels', channelIds, tag } as const
      return success(changedCount(await executeChannelCommand(deps, request, reply, command)))
    },
  })
}

/** PUT /api/channel/tag: changes the fields in the request in all channels that have the tag. */
export const updateTag: Action = (api, deps) => {
  api.route({
    ...endpoint(channelActions, 'PUT /api/channel/tag'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { tag } = request.body
      const change = changeOf(request.body)
      const currentGroups = await groupsOfTag(deps, tag)
      await checkGroups(deps, 'groups', change.groups ?? [], currentGroups)
      const command = { type: 'ChangeTag', tag, change } as const
      return success(changedCount(await executeChannelCommand(deps, request, reply, command)))
    },
  })
}

async function groupsOfTag({ core }: Deps, tag: string): Promise<readonly string[]> {
  const { channels } = await core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  return [...channels.values()].flatMap(({ terms }) => (terms.tag === tag ? terms.groups : []))
}

/**
 * Converts a request to a change of all channels with a tag. Empty fields are left out, except that
 * an empty `new_tag` removes the tag.
 */
function changeOf(fields: UpdateTag): TagChange {
  const models = namesIn(fields.models ?? '')
  const groups = namesIn(fields.groups ?? '')
  const modelMapping = (fields.model_mapping ?? '').trim()
  const { new_tag: tag, priority, weight } = fields
  return {
    ...(typeof tag === 'string' ? { tag: tag.trim() } : {}),
    ...(modelMapping === '' ? {} : { modelMapping }),
    ...(models.length === 0 ? {} : { models }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(typeof priority === 'number' ? { priority } : {}),
    ...(typeof weight === 'number' ? { weight } : {}),
  }
}

/**
 * POST /api/channel/tag/enabled and POST /api/channel/tag/disabled: enables or disables all
 * channels with the tag. Expired channels are not enabled. Returns the number of channels that
 * changed.
 */
export const setTagStatus: Action = (api, deps) => {
  for (const [name, type] of [
    ['POST /api/channel/tag/enabled', 'EnableTag'],
    ['POST /api/channel/tag/disabled', 'DisableTag'],
  ] as const) {
    api.route({
      ...endpoint(channelActions, name),
      onRequest: onlyAdmin,
      handler: async (request, reply) => {
        const command = { type, tag: request.body.tag, now: unixNow(deps) }
        return success(changedCount(await executeChannelCommand(deps, request, reply, command)))
      },
    })
  }
}

/** Executes a command on channels, and waits until the list of channels shows the change. */
async function executeChannelCommand(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  command: ChannelCommand,
): Promise<Done<ChannelEvent>> {
  const { actors } = deps.core
  const context = contextOf(deps, request)
  const outcome = await actors.handle(channelsDecider, CHANNELS_STREAM, command, context)
  const done = accepted(outcome)
  await waitUntilVisible(deps, reply, ['channels'], done.position)
  return done
}

/** Returns the current time in Unix seconds. */
const unixNow = ({ core }: Deps): number => Math.floor(core.now() / 1_000)

/** Returns the number of channels that the events of a command changed. */
const changedCount = ({ events }: Done<ChannelEvent>): number =>
  events.reduce((sum, { data }) => sum + ('channelIds' in data ? data.channelIds.length : 0), 0)
