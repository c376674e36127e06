import { messageDecider } from '#domain/message/decide.ts'
import { messageStream } from '#domain/message/events.ts'
import type { CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { UpdateMessage } from '#write-api/contract/messages.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { IdParams, idOf } from '../id-params.ts'
import { messageError } from './message-errors.ts'
import { keepOtherText, writtenIn } from './send-message.ts'

/** PUT /api/admin/messages/{id}: another text for all who have it; it stays read by who read it. */
export const editMessage: Action = (api, deps) => {
  api.put(
    '/api/admin/messages/:id',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Change title, content and format of a message',
        params: IdParams,
        body: UpdateMessage,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      const id = idOf(request.params)
      const context = contextOf(deps, request)
      const position = await deps.runExclusive(messageStream(id), () =>
        edit(deps, id, request.body, context),
      )
      await waitUntilVisible(deps, reply, ['messages'], position)
      return done()
    },
  )
}

async function edit(
  { core: { actors, vault } }: Deps,
  messageId: number,
  body: UpdateMessage,
  context: CommandContext,
): Promise<number> {
  const written = writtenIn(body)
  const stream = messageStream(messageId)
  const { message } = await actors.stateOf(messageDecider, stream)
  const before = message?.text
  if (before == null) throw messageError('MessageUnknown')
  const textRef = await keepOtherText(vault, messageId, before, written)
  const { format = before.format } = body
  const command = { type: 'EditMessage', messageId, format, textRef } as const
  const outcome = await actors.handle(messageDecider, stream, command, context)
  if (!outcome.isDone) await vault.deleteSecret(textRef)
  const { events, position } = accepted(outcome)
  for (const { data } of events) {
    const dropped = 'droppedTextRef' in data ? data.droppedTextRef : textRef
    if (dropped !== textRef) await vault.deleteSecret(dropped)
  }
  return position
}
