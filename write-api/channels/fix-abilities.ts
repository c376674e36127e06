import Type from 'typebox'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import type { Act } from '../act.ts'
import { decideChannels } from './decide-channels.ts'

/** POST /api/channel/fix: every relay reads its channels anew; answers how many there are. */
export const fixAbilities: Act = (api, deps) => {
  api.post(
    '/api/channel/fix',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Have every relay read the channels anew; answers how many there are',
        response: { 200: Envelope(Type.Integer()) },
      },
    },
    async (request, reply) => {
      const { events } = await decideChannels(deps, request, reply, { type: 'FixAbilities' })
      const [fixed] = events
      return success(fixed?.type === 'ChannelAbilitiesFixed' ? fixed.data.count : 0)
    },
  )
}
