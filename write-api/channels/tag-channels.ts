import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { TagChannels } from '#write-api/contract/channel.ts'
import type { Act } from '../act.ts'
import { refused } from '../refusals.ts'
import { countOf, decideChannels } from './decide-channels.ts'

/** POST /api/channel/batch/tag: all of them get the tag, or none does; null takes theirs off. */
export const tagChannels: Act = (api, deps) => {
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
      if (channelIds.length === 0) throw refused('NoChannelToTag')
      const command = { type: 'TagChannels', channelIds, tag } as const
      return success(countOf(await decideChannels(deps, request, reply, command)))
    },
  )
}
