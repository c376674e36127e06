import { inboxStream } from '#domain/message/events.ts'
import { inboxDecider } from '#domain/message/inbox.ts'
import { onlyUser, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { findInInbox } from '#projections/messages/query.ts'
import { type Action, accepted, contextOf, waitUntilVisible } from '../action.ts'
import { IdParams, idOf } from '../id-params.ts'
import { messageError } from './message-errors.ts'

/** PUT /api/user/messages/{id}/read: once, however often it is said. */
export const readMessage: Action = (api, deps) => {
  api.put(
    '/api/user/messages/:id/read',
    {
      onRequest: onlyUser,
      schema: { summary: 'Mark an own message read', params: IdParams, response: { 200: Done } },
    },
    async (request, reply) => {
      const { actors, db } = deps.core
      const { userId } = principalOf(request)
      const messageId = idOf(request.params)
      // The inbox as it is shown: the message itself may be to everybody, in many ranges.
      if ((await findInInbox(db, userId, messageId)) === null) throw messageError('MessageUnknown')
      const command = { type: 'MarkRead', messageId, userId } as const
      const context = contextOf(deps, request)
      const outcome = await actors.handle(inboxDecider, inboxStream(userId), command, context)
      await waitUntilVisible(deps, reply, ['messages'], accepted(outcome).position)
      return done()
    },
  )
}
