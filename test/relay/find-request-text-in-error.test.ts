import { describe, expect, it } from 'vitest'
import { mayRepeatRequest } from '#relay/channel-health/find-request-text-in-error.ts'

const asking = (...contents: unknown[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      model: 'm',
      messages: contents.map((content) => ({ role: 'user', content })),
    }),
  )

describe('an error text that the request contains', () => {
  it.each([
    ['as they are', asking('is my credit balance low?')],
    ['in other letters', asking('CREDIT Balance')],
    ['by an escape', Buffer.from('{"messages":[{"content":"my \\u0063redit balance"}]}')],
    ['in pieces', asking([{ type: 'text', text: 'credit ' }, 'x'].slice(0, 1), 'balance')],
    ['over lines', asking('credit\n\n  balance')],
    ['in wide letters', asking('ｃｒｅｄｉｔ balance')],
    ['as a name', Buffer.from('{"metadata":{"credit balance":1}}')],
    ['in more than is looked at', asking('x'.repeat(1024 * 1024))],
    ['in what can not be read', Buffer.from('{"messages":')],
  ])('mayRepeatRequest finds text of the request %s', (_how, body) => {
    expect(mayRepeatRequest('credit balance', body)).toBe(true)
  })

  it('mayRepeatRequest is false for text that the request does not contain', () => {
    expect(mayRepeatRequest('credit balance', asking('what is a ledger?', 'credit'))).toBe(false)
    expect(mayRepeatRequest('$$$', asking('what costs it?'))).toBe(false)
  })
})
