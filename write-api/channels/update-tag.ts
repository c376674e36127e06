import Type from 'typebox'
import { channelsDecider } from '#domain/channel/decide.ts'
import { CHANNELS_STREAM, type TagChange } from '#domain/channel/events.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { UpdateTag } from '#write-api/contract/channel.ts'
import type { Act, Deps } from '../act.ts'
import { listOf } from './channel-terms.ts'
import { checkGroups } from './check-groups.ts'
import { countOf, decideChannels } from './decide-channels.ts'

/** PUT /api/channel/tag: the fields given, in every channel of the tag. */
export const updateTag: Act = (api, deps) => {
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
