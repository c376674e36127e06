import Type, { type Static } from 'typebox'
import { MESSAGE_TERMS } from '#read-api/contract/message-fields.ts'
import { Id, IdParams } from '#read-api/contract/request-parameters.ts'
import { Done, Envelope } from '#read-api/contract/response-envelope.ts'
import { requestProperties } from '#read-api/contract/schemas-from-field-definitions.ts'

/** The maximum number of ids in `user_ids`. Messages to groups or to all users have no maximum. */
const RECIPIENTS_MAX = 20_000

/**
 * A message to the users that `user_ids`, `groups` and `everybody` select. Each selected user
 * receives the message once. Users who register later do not receive it.
 */
export const CreateMessage = Type.Object({
  ...requestProperties(MESSAGE_TERMS),
  user_ids: Type.Optional(Type.Array(Id, { maxItems: RECIPIENTS_MAX })),
  groups: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })),
  everybody: Type.Optional(Type.Boolean()),
})
export type CreateMessage = Static<typeof CreateMessage>

const CreatedMessage = Type.Object({
  id: Type.Integer(),
  total_recipients: Type.Integer(),
})

export const UpdateMessage = Type.Object(requestProperties(MESSAGE_TERMS))
export type UpdateMessage = Static<typeof UpdateMessage>

export const messageActions = {
  'PUT /api/admin/messages/:id': {
    summary: 'Change title, content and format of a message',
    params: IdParams,
    body: UpdateMessage,
    response: { 200: Done },
  },
  'DELETE /api/admin/messages/:id': {
    summary: 'Permanently delete a message and its text',
    params: IdParams,
    response: { 200: Done },
  },
  'PUT /api/user/messages/:id/read': {
    summary: 'Mark one of your messages as read',
    params: IdParams,
    response: { 200: Done },
  },
  'POST /api/admin/messages': {
    summary: 'Send a message to users, to groups or to all users',
    body: CreateMessage,
    response: { 200: Envelope(CreatedMessage) },
  },
}
