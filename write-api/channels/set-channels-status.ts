import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { SetChannelsStatus } from '#write-api/contract/channel.ts'
import type { Act } from '../act.ts'
import { refused } from '../refusals.ts'
import { countOf, decideChannels, unixNow } from './decide-channels.ts'

/** POST /api/channel/batch/status: all of them, or none; answers how many were another way. */
export const setChannelsStatus: Act = (api, deps) => {
  api.post(
    '/api/channel/batch/status',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Enable (1) or disable (2) several channels; answers how many changed',
        body: SetChannelsStatus,
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const { ids: channelIds, status } = request.body
      if (channelIds.length === 0) throw refused('NoChannelSelected')
      const command =
        status === 1
          ? ({ type: 'EnableChannels', channelIds, now: unixNow(deps) } as const)
          : ({ type: 'DisableChannels', channelIds } as const)
      return success(countOf(await decideChannels(deps, request, reply, command)))
    },
  )
}
