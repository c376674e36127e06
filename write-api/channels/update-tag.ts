import Type from 'typebox'
import type { TagChange } from '#domain/channel/events.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { UpdateTag } from '#write-api/contract/channel.ts'
import type { Act } from '../act.ts'
import { listOf } from './channel-terms.ts'
import { countOf, decideChannels } from './decide-channels.ts'

/** PUT /api/channel/tag: the fields given, in every channel of the tag. */
export const updateTag: Act = (api, parts) => {
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
      const command = { type: 'ChangeTag', tag, change: changeOf(request.body) } as const
      return success(countOf(await decideChannels(parts, request, reply, command)))
    },
  )
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
