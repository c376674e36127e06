import { messageDecider } from '#domain/message/decide.ts'
import { inboxStream, messageStream } from '#domain/message/events.ts'
import { inboxDecider } from '#domain/message/inbox.ts'
import { isAmong } from '#domain/message/recipients.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { type Act, accepted, contextOf, visibleIn } from '../act.ts'
import { IdParams, idOf } from '../id-params.ts'
import { refused } from '../refusals.ts'

/** PUT /api/user/messages/{id}/read: once, however often it is said. */
export const readMessage: Act = (api, parts) => {
  api.put(
    '/api/user/messages/:id/read',
    {
      onRequest: onlyUser,
      schema: { summary: 'Mark an own message read', params: IdParams, response: { 200: Done } },
    },
    async (request, reply) => {
      const { actors } = parts.core
      const { userId } = principalOf(request)
      const messageId = idOf(request.params)
      const { message } = await actors.stateOf(messageDecider, messageStream(messageId))
      const isOwn = message?.text != null && isAmong(message.recipients, userId)
      if (!isOwn) throw refused('MessageUnknown')
      const command = { type: 'MarkRead', messageId, userId } as const
      const context = contextOf(parts, request)
      const outcome = await actors.handle(inboxDecider, inboxStream(userId), command, context)
      await visibleIn(parts, reply, ['messages'], accepted(outcome).position)
      return done()
    },
  )
}
