import { messageDecider } from '#domain/message/decide.ts'
import { messageStream } from '#domain/message/events.ts'
import { countOf } from '#domain/message/recipients.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { CreatedMessage, CreateMessage } from '#write-api/contract/message.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { refused } from '../refusals.ts'
import { chosenRecipients } from './chosen-recipients.ts'
import { keepText, writtenIn } from './message-text.ts'

/** POST /api/admin/messages: one event, whoever it goes to. */
export const sendMessage: Act = (api, deps) => {
  api.post(
    '/api/admin/messages',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'Send a message to users, to groups, or to everybody there is',
        body: CreateMessage,
        response: { 200: Envelope(CreatedMessage) },
      },
    },
    async (request, reply) => {
      const { actors, vault } = deps.core
      const written = writtenIn(request.body)
      const { format = 'markdown' } = request.body
      const recipients = await chosenRecipients(deps, request.body)
      if (recipients.length === 0) throw refused('RecipientRequired')
      const context = contextOf(deps, request)
      const { id, outcome } = await deps.nextIds('message', async (messageId) => {
        const textRef = await keepText(vault, messageId, written)
        const command = { type: 'SendMessage', messageId, recipients, format, textRef } as const
        const sent = await actors.handle(messageDecider, messageStream(messageId), command, context)
        if (!sent.isDone) await vault.deleteSecret(textRef)
        return sent
      })
      await visibleIn(deps, reply, ['messages'], accepted(outcome).position)
      return success({ id, total_recipients: countOf(recipients) })
    },
  )
}
