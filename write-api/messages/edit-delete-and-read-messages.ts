import { inboxDecider, messageDecider } from '#domain/messages/decide.ts'
import { inboxStream, messageStream } from '#domain/messages/events.ts'
import type { CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin, onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { done } from '#infra/http/response-envelope.ts'
import { findInInbox, messagesOnlyTo } from '#projections/messages/query.ts'
import type { UpdateMessage } from '#write-api/contract/messages.ts'
import { type Action, accepted, contextOf, type Deps, idOf, waitUntilVisible } from '../action.ts'
import { messageActions } from '../contract/messages.ts'
import { messageError } from './message-errors.ts'
import { restoreDeletedText, storeTextIfChanged, validText } from './send-message.ts'

/**
 * PUT /api/admin/messages/{id}: changes a message's text for all recipients. The message stays
 * marked as read for recipients who have read it.
 */
export const editMessage: Action = (api, deps) => {
  api.route({
    ...endpoint(messageActions, 'PUT /api/admin/messages/:id'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const id = idOf(request.params)
      const context = contextOf(deps, request)
      const position = await deps.runExclusive(messageStream(id), () =>
        edit(deps, id, request.body, context),
      )
      await waitUntilVisible(deps, reply, ['messages'], position)
      return done()
    },
  })
}

async function edit(
  { core }: Deps,
  messageId: number,
  body: UpdateMessage,
  context: CommandContext,
): Promise<number> {
  const { actors, vault } = core
  const text = validText(body)
  const stream = messageStream(messageId)
  const { message } = await actors.stateOf(messageDecider, stream)
  const before = message?.text
  if (before == null) throw messageError('MessageUnknown')
  const textRef = await storeTextIfChanged(vault, messageId, before, text)
  const { format = before.format } = body
  const command = { type: 'EditMessage', messageId, format, textRef } as const
  const outcome = await actors.handle(messageDecider, stream, command, context)
  if (!outcome.isDone) await vault.deleteSecret(textRef)
  const { events, position } = accepted(outcome)
  for (const { data } of events) {
    const obsoleteRef = 'droppedTextRef' in data ? data.droppedTextRef : textRef
    if (obsoleteRef !== textRef) await vault.deleteSecret(obsoleteRef)
  }
  const recorded = { messageId, text: { format, textRef }, content: text }
  return (await restoreDeletedText(core, recorded, context)) ?? position
}

/** Permanently deletes a message and its text. The message disappears from all inboxes. */
async function removeMessage(
  { core: { actors, vault }, runExclusive }: Deps,
  messageId: number,
  context: CommandContext,
): Promise<number> {
  const stream = messageStream(messageId)
  return runExclusive(stream, async () => {
    const { message } = await actors.stateOf(messageDecider, stream)
    // NOTE: the text is deleted before the event is appended. If the process fails in between, the
    // admin can repeat the deletion.
    if (message?.text != null) await vault.deleteSecret(message.text.textRef)
    const command = { type: 'DeleteMessage', messageId } as const
    const outcome = await actors.handle(messageDecider, stream, command, context)
    const { events, position } = accepted(outcome)
    // The event contains the reference of the text that was current at the deletion. If another
    // process has edited the message since the first deletion above, this reference belongs to the
    // new text, which must be deleted too.
    for (const { data } of events) {
      if ('droppedTextRef' in data) await vault.deleteSecret(data.droppedTextRef)
    }
    return position
  })
}

/** DELETE /api/admin/messages/{id}: permanently deletes a message. */
export const deleteMessage: Action = (api, deps) => {
  api.route({
    ...endpoint(messageActions, 'DELETE /api/admin/messages/:id'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const context = contextOf(deps, request)
      const position = await removeMessage(deps, idOf(request.params), context)
      await waitUntilVisible(deps, reply, ['messages'], position)
      return done()
    },
  })
}

/**
 * Deletes the messages that were sent only to this user, because such messages may contain personal
 * data. Returns the position of the last event, or 0 if there are no such messages.
 */
export async function deleteInboxOf(
  deps: Deps,
  userId: number,
  context: CommandContext,
): Promise<number> {
  let position = 0
  for (const messageId of await messagesOnlyTo(deps.core.db, userId)) {
    position = await removeMessage(deps, messageId, context)
  }
  return position
}

/**
 * PUT /api/user/messages/{id}/read: marks a message as read. A repeated request changes nothing.
 */
export const readMessage: Action = (api, deps) => {
  api.route({
    ...endpoint(messageActions, 'PUT /api/user/messages/:id/read'),
    onRequest: onlyUser,
    handler: async (request, reply) => {
      const { actors, db } = deps.core
      const { userId } = principalOf(request)
      const messageId = idOf(request.params)
      // The read model, not the message's state, is asked whether the user is a recipient. The
      // state may contain many ranges of user ids.
      if ((await findInInbox(db, userId, messageId)) === null) throw messageError('MessageUnknown')
      const command = { type: 'MarkRead', messageId, userId } as const
      const context = contextOf(deps, request)
      const outcome = await actors.handle(inboxDecider, inboxStream(userId), command, context)
      await waitUntilVisible(deps, reply, ['messages'], accepted(outcome).position)
      return done()
    },
  })
}
