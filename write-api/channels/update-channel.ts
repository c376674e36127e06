import { channelDecider } from '#domain/channel/decide.ts'
import { channelStream } from '#domain/channel/events.ts'
import type { ActContext, AnyStep } from '#infra/event-store/actors-port.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { UpdateChannel } from '#write-api/contract/channel.ts'
import { type Act, accepted, contextOf, type Parts, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { keepChannelKey } from './channel-key.ts'
import { checkAddress, keyOf, termsWith } from './channel-terms.ts'

/** PUT /api/channel/: the fields given, the others stay; status 1 enables, 2 disables. */
export const updateChannel: Act = (api, parts) => {
  api.put(
    '/api/channel/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Change a channel; a new type or address needs the key again',
        body: UpdateChannel,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const { body } = request
      const context = contextOf(parts, request)
      const position = await parts.turns(`channel-${body.id}`, () => change(parts, body, context))
      await visibleIn(parts, reply, ['channels'], position)
      return done()
    },
  )
}

async function change(
  { core, upstreams }: Parts,
  fields: UpdateChannel,
  context: ActContext,
): Promise<number> {
  const { actors, vault } = core
  const stream = channelStream(fields.id)
  const { channel } = await actors.stateOf(channelDecider, stream)
  if (channel === null || channel.isDeleted) throw refused('ChannelUnknown')
  const terms = termsWith(channel.terms, fields)
  // One that was allowed once must not stand in the way of turning the channel off.
  if (terms.baseUrl !== channel.terms.baseUrl) checkAddress(terms.baseUrl, upstreams)
  const key = keyOf(fields)
  const keyRef = key === null ? null : await keepChannelKey(vault, fields.id, key)
  const outcome = await actors.handleTogether(
    [
      { decider: channelDecider, stream, command: { type: 'ChangeTerms', terms, keyRef } },
      ...statusSteps(stream, fields),
    ],
    context,
  )
  const unused = outcome.isDone ? channel.keyRef : keyRef
  if (keyRef !== null && unused !== null) await vault.deleteSecret(unused)
  return accepted(outcome).position
}

function statusSteps(stream: string, { status }: UpdateChannel): AnyStep[] {
  if (status !== 1 && status !== 2) return []
  const command = { type: status === 1 ? 'EnableChannel' : 'DisableChannel' }
  return [{ decider: channelDecider, stream, command }]
}
