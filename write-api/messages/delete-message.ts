import type { FastifyRequest } from 'fastify'
import { messageDecider } from '#domain/message/decide.ts'
import { messageStream } from '#domain/message/events.ts'
import type { CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { messagesOnlyTo } from '#projections/messages/query.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { IdParams, idOf } from '../id-params.ts'

/** Destroys the text of a message for good, and takes it out of every inbox. */
async function removeMessage(
  { core: { actors, vault }, runExclusive }: Deps,
  messageId: number,
  context: CommandContext,
): Promise<number> {
  const stream = messageStream(messageId)
  return runExclusive(stream, async () => {
    const { message } = await actors.stateOf(messageDecider, stream)
    // NOTE: the text first: what fails between the two leaves a message that can be deleted again.
    if (message?.text != null) await vault.deleteSecret(message.text.textRef)
    const command = { type: 'DeleteMessage', messageId } as const
    const outcome = await actors.handle(messageDecider, stream, command, context)
    const { events, position } = accepted(outcome)
    // Another process may have edited it meanwhile.
    for (const { data } of events) {
      if ('droppedTextRef' in data) await vault.deleteSecret(data.droppedTextRef)
    }
    return position
  })
}

/** DELETE /api/admin/messages/{id}: gone from every inbox and count, for good. */
export const deleteMessage: Action = (api, deps) => {
  api.delete(
    '/api/admin/messages/:id',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Delete a message and its text, for good',
        params: IdParams,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const context = contextOf(deps, request)
      const position = await removeMessage(deps, idOf(request.params), context)
      await waitUntilVisible(deps, reply, ['messages'], position)
      return done()
    },
  )
}

/** What went to one person alone may speak of that person: it goes with them. */
export async function deleteInboxOf(
  deps: Deps,
  request: FastifyRequest,
  userId: number,
): Promise<number> {
  let position = 0
  for (const messageId of await messagesOnlyTo(deps.core.db, userId)) {
    position = await removeMessage(deps, messageId, contextOf(deps, request))
  }
  return position
}
