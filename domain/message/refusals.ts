import type { Refusal } from '../shared/refusal.ts'

export type MessageRefusalCode =
  /** Never sent, or deleted. */
  | 'MessageUnknown'
  /** The id is another message's. */
  | 'MessageExists'
  | 'RecipientRequired'
  /** The recipients are in more than `limit` places. */
  | 'RecipientsScattered'

export type MessageRefusal = Refusal<MessageRefusalCode>
