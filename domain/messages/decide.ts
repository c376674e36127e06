import { assert } from '../shared/assert.ts'
import { type CodedError, codedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import { isSame } from '../shared/deep-equal.ts'
import {
  countOf,
  type IdRange,
  type MessageEvent,
  type MessageRead,
  type MessageText,
} from './events.ts'

type SendMessage = {
  readonly type: 'SendMessage'
  readonly messageId: number
  readonly recipients: readonly IdRange[]
} & MessageText

type EditMessage = {
  readonly type: 'EditMessage'
  readonly messageId: number
  /**
   * If set, the text is changed only if `replacedRef` is the vault reference of the current text.
   * Otherwise, the command changes nothing.
   */
  readonly replacedRef?: string
} & MessageText

type DeleteMessage = { readonly type: 'DeleteMessage'; readonly messageId: number }

type MessageCommand = SendMessage | EditMessage | DeleteMessage

type MarkRead = {
  readonly type: 'MarkRead'
  readonly messageId: number
  readonly userId: number
}

/**
 * The maximum number of id ranges in one event. With this limit, the ranges take at most 350 KB,
 * which every event store accepts.
 */
export const RANGES_MAX = 20_000

type Outcome = readonly MessageEvent[] | MessageError

export const messageDecider: Decider<MessageState, MessageCommand, MessageEvent, MessageError> = {
  initialState: () => ({ message: null }),
  decide: (command, { message }) => {
    const { messageId } = command
    if (command.type === 'SendMessage')
      return send(command, message?.text ?? null, message !== null)
    const text = message?.text ?? null
    if (text === null) return codedError('MessageUnknown')
    const dropped = { messageId, droppedTextRef: text.textRef }
    if (command.type === 'DeleteMessage') return [{ type: 'MessageDeleted', v: 1, data: dropped }]
    const { format, textRef, replacedRef = text.textRef } = command
    if (replacedRef !== text.textRef) return []
    if (isSame({ format, textRef }, text)) return []
    return [{ type: 'MessageEdited', v: 1, data: { ...dropped, format, textRef } }]
  },
  evolve: ({ message }, { type, data }) => {
    if (type === 'MessageSent') {
      return { message: { recipients: data.recipients, text: textOf(data) } }
    }
    assert(message !== null, `an event of message ${data.messageId}, which does not exist`)
    return { message: { ...message, text: type === 'MessageEdited' ? textOf(data) : null } }
  },
}

const textOf = ({ format, textRef }: MessageText): MessageText => ({ format, textRef })

/**
 * Sends a message. If the message exists with the same text reference, the command is a repetition
 * and changes nothing.
 */
function send(
  { type, ...data }: SendMessage,
  existing: MessageText | null,
  isTaken: boolean,
): Outcome {
  if (isTaken) return existing?.textRef === data.textRef ? [] : codedError('MessageExists')
  const total = countOf(data.recipients)
  if (total === 0) return codedError('RecipientRequired')
  if (data.recipients.length > RANGES_MAX) {
    return codedError('RecipientsScattered', { limit: RANGES_MAX })
  }
  return [{ type: 'MessageSent', v: 1, data: { ...data, total } }]
}

/** `text` is null after the message was deleted. */
type MessageRecord = {
  readonly recipients: readonly IdRange[]
  readonly text: MessageText | null
}

type MessageState = { readonly message: MessageRecord | null }

export type MessageErrorCode =
  /** The message does not exist or was deleted. */
  | 'MessageUnknown'
  | 'MessageExists'
  | 'RecipientRequired'
  /** The recipients' ids form too many ranges. Params: `limit`. */
  | 'RecipientsScattered'

type MessageError = CodedError<MessageErrorCode>

type InboxState = { readonly read: Set<number> }

/** The decider of a user's inbox, which records the messages that the user has read. */
export const inboxDecider: Decider<InboxState, MarkRead, MessageRead, CodedError<never>> = {
  initialState: () => ({ read: new Set() }),
  decide: ({ type: _type, ...data }, { read }) =>
    read.has(data.messageId) ? [] : [{ type: 'MessageRead', v: 1, data }],
  evolve: (state, { data }) => {
    state.read.add(data.messageId)
    return state
  },
  snapshot: {
    version: 1,
    encode: ({ read }) => [...read],
    decode: (stored) => ({ read: new Set(stored as number[]) }),
  },
}
