import type { FastifyRequest } from 'fastify'
import { messagesOnlyTo } from '#projections/messages/query.ts'
import { contextOf, type Parts } from '../act.ts'
import { removeMessage } from './remove-message.ts'

/** What went to one person alone may speak of that person: it goes with them. */
export async function forgetMessages(
  parts: Parts,
  request: FastifyRequest,
  userId: number,
): Promise<number> {
  let position = 0
  for (const messageId of await messagesOnlyTo(parts.core.db, userId)) {
    position = await removeMessage(parts, messageId, contextOf(parts, request))
  }
  return position
}
