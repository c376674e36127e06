import { describe, expect, it } from 'vitest'
import { findRequestId } from '#console/ui/elements/find-request-id.ts'
import { findFullRequestId } from '#read-api/contract/find-full-request-id.ts'

const ID = '0199aa00-1b2c-7000-8000-0123456789ab'

describe('the request id in pasted text', () => {
  it.each([
    ['the id', ID],
    ['with spaces around it', `  ${ID}\n`],
    ['in upper case', ID.toUpperCase()],
    ['a header line', `X-Request-Id: ${ID}`],
    ['the id of a batch', `batch_${ID.replaceAll('-', '')}`],
    ['an error message', `The provider answered 502. (request id: ${ID})`],
  ])('is found: %s', (_name, text) => {
    expect(findRequestId(text)).toBe(ID)
    expect(findFullRequestId(text)).toBe(ID)
  })

  it.each([ID.slice(0, 8), ID.slice(0, 9), ID.slice(0, 20), ID.slice(0, 20).toUpperCase()])(
    'can be shortened to its first characters: %s',
    (text) => {
      expect(findRequestId(text)).toBe(text.toLowerCase())
      expect(findFullRequestId(text)).toBeNull()
    },
  )

  it.each(['', '0199aa0', 'dashboard', 'gpt-4o-mini', '0199aa00x', `${ID.slice(0, 13)} and more`])(
    'is not found in %j',
    (text) => expect(findRequestId(text)).toBeNull(),
  )
})
