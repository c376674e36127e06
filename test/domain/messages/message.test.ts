import { describe, expect, it } from 'vitest'
import { inboxDecider, messageDecider, RANGES_MAX } from '#domain/messages/decide.ts'
import { countOf, type MessageSent, rangesOf } from '#domain/messages/events.ts'
import { codedError } from '#domain/shared/coded-error.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(messageDecider)

const text = { format: 'markdown', textRef: 'key-1' } as const
const other = { format: 'html', textRef: 'key-2' } as const
const toTwo = { messageId: 4, recipients: [[3, 4]] } as const
const sent: MessageSent = { type: 'MessageSent', v: 1, data: { ...toTwo, ...text, total: 2 } }
const edited = {
  type: 'MessageEdited',
  v: 1,
  data: { messageId: 4, ...other, droppedTextRef: 'key-1' },
} as const
const deleted = {
  type: 'MessageDeleted',
  v: 1,
  data: { messageId: 4, droppedTextRef: 'key-1' },
} as const

describe('a message', () => {
  it('is sent by one event, whatever the number of recipients', () => {
    const everybody = {
      messageId: 4,
      recipients: rangesOf(Array.from({ length: 10_000 }, (_, n) => n + 1)),
    }
    given()
      .when({ type: 'SendMessage', ...everybody, ...text })
      .then([
        { ...sent, data: { messageId: 4, recipients: [[1, 10_000]], ...text, total: 10_000 } },
      ])
  })

  it('needs at least one recipient, and is refused if its recipients form too many ranges', () => {
    const send = { type: 'SendMessage', messageId: 4, ...text } as const
    given()
      .when({ ...send, recipients: [] })
      .then(codedError('RecipientRequired'))
    const scattered = rangesOf(Array.from({ length: RANGES_MAX + 1 }, (_, n) => 2 * n + 1))
    given()
      .when({ ...send, recipients: scattered })
      .then(codedError('RecipientsScattered', { limit: RANGES_MAX }))
    expect(given().when({ ...send, recipients: scattered.slice(1) }).facts).toHaveLength(1)
  })

  it('is sent once; its id cannot be reused for another message, even after its deletion', () => {
    const again = { type: 'SendMessage', ...toTwo, ...text } as const
    given(sent).when(again).then([])
    given(sent)
      .when({ ...again, textRef: 'key-9' })
      .then(codedError('MessageExists'))
    given(sent, deleted).when(again).then(codedError('MessageExists'))
  })

  it('can be edited, and an edit without a difference is not recorded', () => {
    given(sent)
      .when({ type: 'EditMessage', messageId: 4, ...other })
      .then([edited])
    given(sent)
      .when({ type: 'EditMessage', messageId: 4, ...text })
      .then([])
    given(sent, edited)
      .when({ type: 'EditMessage', messageId: 4, ...other })
      .then([])
  })

  it('is unknown before it is sent and after it is deleted', () => {
    for (const facts of [[], [sent, deleted]]) {
      given(...facts)
        .when({ type: 'EditMessage', messageId: 4, ...other })
        .then(codedError('MessageUnknown'))
      given(...facts)
        .when({ type: 'DeleteMessage', messageId: 4 })
        .then(codedError('MessageUnknown'))
    }
    given(sent).when({ type: 'DeleteMessage', messageId: 4 }).then([deleted])
  })

  it('is marked as read once per user', () => {
    const inbox = specificationOf(inboxDecider)
    const read = { messageId: 4, userId: 7 }
    const first = inbox.given().when({ type: 'MarkRead', ...read })
    first.then([{ type: 'MessageRead', v: 1, data: read }])
    inbox
      .given(...first.facts)
      .when({ type: 'MarkRead', ...read })
      .then([])
  })
})

describe('the recipients of a message', () => {
  it('are stored as sorted ranges without duplicates', () => {
    expect(rangesOf([5, 3, 4, 9, 3, 1, 10])).toEqual([
      [1, 1],
      [3, 5],
      [9, 10],
    ])
    expect(rangesOf([])).toEqual([])
    expect(countOf(rangesOf([5, 3, 4, 9, 3, 1, 10]))).toBe(6)
  })

  it('include exactly the given ids', () => {
    const ids = [2, 3, 7, 11, 12, 13, 20]
    const ranges = rangesOf(ids)
    const found = Array.from({ length: 25 }, (_, id) => id).filter((id) =>
      ranges.some(([first, last]) => first <= id && id <= last),
    )
    expect(found).toEqual(ids)
  })
})
