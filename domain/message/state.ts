import type { MessageText } from './events.ts'
import type { IdRange } from './recipients.ts'

/** `text` is null once it was deleted. */
export type KnownMessage = {
  readonly recipients: readonly IdRange[]
  readonly text: MessageText | null
}

export type MessageState = { readonly message: KnownMessage | null }
