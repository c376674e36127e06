import { expect, it } from 'vitest'
import { withoutStoring } from '#relay/stored-responses/record-response-content.ts'

it('only the member of the response says that it is not stored, in each event', () => {
  const schema = { type: 'object', properties: { store: true } }
  const eventOf = (store: boolean) => {
    const response = { id: 'resp_1', background: false, store, text: { format: { schema } } }
    return `event: response.completed\ndata: ${JSON.stringify({ type: 'x', response })}\n\n`
  }
  const changed = (text: string) => withoutStoring(Buffer.from(text)).toString('utf8')
  expect(changed(eventOf(true) + eventOf(true))).toBe(eventOf(false) + eventOf(false))
  const plain = (store: boolean) => JSON.stringify({ id: 'resp_1', store, text: { schema } })
  expect(changed(plain(true))).toBe(plain(false))
  expect(changed('{"store":false}')).toBe('{"store":false}')
})
