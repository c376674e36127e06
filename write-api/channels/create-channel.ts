import Type from 'typebox'
import { channelDecider } from '#domain/channel/decide.ts'
import { channelStream } from '#domain/channel/events.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CreateChannel } from '#write-api/contract/channel.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { keepChannelKey } from './channel-key.ts'
import { checkAddress, DEFAULT_TERMS, keyOf, termsWith } from './channel-terms.ts'

/** POST /api/channel/: a provider to send calls to, enabled. */
export const createChannel: Act = (api, parts) => {
  api.post(
    '/api/channel/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Create a channel',
        body: CreateChannel,
        response: { 200: Envelope(Type.Object({ id: Type.Integer() })) },
      },
    },
    async (request, reply) => {
      const { actors, vault } = parts.core
      const terms = termsWith(DEFAULT_TERMS, request.body)
      const key = keyOf(request.body)
      if (terms.name === '' || key === null) throw refused('ChannelFieldsRequired')
      checkAddress(terms.baseUrl, parts.upstreams)
      const context = contextOf(parts, request)
      const { id, outcome } = await parts.nextIds('channel', async (channelId) => {
        const keyRef = await keepChannelKey(vault, channelId, key)
        const command = { type: 'CreateChannel', channelId, terms, keyRef } as const
        const stream = channelStream(channelId)
        const outcome = await actors.handle(channelDecider, stream, command, context)
        if (!outcome.isDone) await vault.deleteSecret(keyRef)
        return outcome
      })
      await visibleIn(parts, reply, ['channels'], accepted(outcome).position)
      return success({ id })
    },
  )
}
