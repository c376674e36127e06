import { describe } from 'vitest'
import { inboxDecider, messageDecider } from '#domain/messages/decide.ts'
import type { IdRange } from '#domain/messages/events.ts'
import { story } from './story.ts'

const recipients: readonly IdRange[] = [
  [1, 6],
  [8, 8],
]
const text = { format: 'markdown', textRef: 'key-7' } as const
const newText = { format: 'html', textRef: 'key-8' } as const

describe('the events of messages, as first recorded', () => {
  story(
    'a message',
    messageDecider,
    [
      ['message-sent-v1', { type: 'SendMessage', messageId: 4, recipients, ...text }],
      ['message-edited-v1', { type: 'EditMessage', messageId: 4, ...newText }],
      ['message-deleted-v1', { type: 'DeleteMessage', messageId: 4 }],
    ],
    { message: { recipients, text: null } },
  )
  story(
    'an inbox',
    inboxDecider,
    [['message-read-v1', { type: 'MarkRead', messageId: 4, userId: 7 }]],
    [4],
  )
})
