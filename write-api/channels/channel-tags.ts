import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM, type TagChange } from '#domain/channels/events.ts'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { namesIn } from '#read-api/contract/resource-field-definition.ts'
import type { Action, Deps } from '../action.ts'
import { channelActions, type UpdateTag } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { checkGroups } from './check-channel-groups.ts'
import { changedCount, executeChannelCommand, unixNow } from './execute-channel-command.ts'

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
