import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { ChannelCommand } from '#domain/channel/commands.ts'
import { channelsDecider } from '#domain/channel/decide.ts'
import { CHANNELS_STREAM, type ChannelEvent, type TagChange } from '#domain/channel/events.ts'
import type { Done } from '#infra/event-store/actors-port.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { NamedTag, TagChannels, UpdateTag } from '../contract/channels.ts'
import { channelError } from './channel-errors.ts'
import { listOf } from './channel-terms.ts'
import { checkGroups } from './create-channel.ts'

/** Has a command carried out and waits until the list shows it; throws the error. */
export async function decideChannels(
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

/** In seconds: what has expired by then stays off. */
export const unixNow = ({ core }: Deps): number => Math.floor(core.now() / 1_000)

/** How many channels the events say were changed. */
export const countOf = ({ events }: Done<ChannelEvent>): number =>
  events.reduce((sum, { data }) => sum + ('channelIds' in data ? data.channelIds.length : 0), 0)

/** POST /api/channel/batch/tag: all of them get the tag, or none does; null takes theirs off. */
export const tagChannels: Action = (api, deps) => {
  api.post(
    '/api/channel/batch/tag',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Give several channels a tag, or none (null); answers how many changed',
        body: TagChannels,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const { ids: channelIds, tag } = request.body
      if (channelIds.length === 0) throw channelError('NoChannelToTag')
      const command = { type: 'TagChannels', channelIds, tag } as const
      return success(countOf(await decideChannels(deps, request, reply, command)))
    },
  )
}

/** PUT /api/channel/tag: the fields given, in every channel of the tag. */
export const updateTag: Action = (api, deps) => {
  api.put(
    '/api/channel/tag',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Change every channel of a tag; answers how many changed',
        body: UpdateTag,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const { tag } = request.body
      const change = changeOf(request.body)
      const kept = await groupsOfTag(deps, tag)
      await checkGroups(deps, 'groups', change.groups ?? [], kept)
      const command = { type: 'ChangeTag', tag, change } as const
      return success(countOf(await decideChannels(deps, request, reply, command)))
    },
  )
}

async function groupsOfTag({ core }: Deps, tag: string): Promise<readonly string[]> {
  const { channels } = await core.actors.stateOf(channelsDecider, CHANNELS_STREAM)
  return [...channels.values()].flatMap(({ terms }) => (terms.tag === tag ? terms.groups : []))
}

/** An empty field leaves things as they are; an empty new tag takes the tag off. */
function changeOf(fields: UpdateTag): TagChange {
  const models = listOf(fields.models ?? '')
  const groups = listOf(fields.groups ?? '')
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

/** POST /api/channel/tag/enabled and /tag/disabled: every channel of the tag; those that have
 * expired are not enabled. Answers how many changed. */
export const setTagStatus: Action = (api, deps) => {
  for (const [status, type] of [
    ['enabled', 'EnableTag'],
    ['disabled', 'DisableTag'],
  ] as const) {
    api.post(
      `/api/channel/tag/${status}`,
      {
        onRequest: onlyAdmin,
        schema: {
          summary: `Have every channel of a tag ${status}; answers how many changed`,
          body: NamedTag,
          response: { 200: Envelope(Type.Integer()) },
        },
      },
      async (request, reply) => {
        const command = { type, tag: request.body.tag, now: unixNow(deps) }
        return success(countOf(await decideChannels(deps, request, reply, command)))
      },
    )
  }
}
