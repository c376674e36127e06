import type { FastifyRequest } from 'fastify'
import { messagesOnlyTo } from '#projections/messages/query.ts'
import { contextOf, type Deps } from '../act.ts'
import { removeMessage } from './remove-message.ts'

/** What went to one person alone may speak of that person: it goes with them. */
export async function forgetMessages(
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
