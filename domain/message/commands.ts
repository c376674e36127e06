import type { MessageText } from './events.ts'
import type { IdRange } from './recipients.ts'

export type SendMessage = {
  readonly type: 'SendMessage'
  readonly messageId: number
  readonly recipients: readonly IdRange[]
} & MessageText

export type EditMessage = { readonly type: 'EditMessage'; readonly messageId: number } & MessageText

export type DeleteMessage = { readonly type: 'DeleteMessage'; readonly messageId: number }

export type MessageCommand = SendMessage | EditMessage | DeleteMessage

export type MarkRead = {
  readonly type: 'MarkRead'
  readonly messageId: number
  readonly userId: number
}
