import { expect, it } from 'vitest'
import { addressWithoutSecrets } from '#projections/audit-log/values-in-audit-log.ts'

it.each(['', 'https://a.example.com', 'https://a.example.com:8443/v1', 'http://a.example/v1/'])(
  'the address %o is shown as it is',
  (address) => {
    expect(addressWithoutSecrets(address)).toBe(address)
  },
)

it.each([
  ['https://user:secret@a.example.com/v1', 'https://a.example.com/v1'],
  ['https://a.example.com/v1?key=secret', 'https://a.example.com/v1'],
  ['https://a.example.com#secret', 'https://a.example.com'],
])('credentials, query and fragment of %s appear as a fingerprint', (address, shown) => {
  const text = addressWithoutSecrets(address)
  const other = addressWithoutSecrets(address.replace('secret', 'other'))
  for (const one of [text, other]) {
    expect(one.replace(/ \(sha256:[0-9a-f]{12}\)$/, '')).toBe(shown)
  }
  expect(text).not.toBe(other)
})

it.each(['secret', 'data:secret'])(
  'the text %s, which is no address of a host, is hidden',
  (text) => {
    expect(addressWithoutSecrets(text)).toMatch(/^sha256:[0-9a-f]{12}$/)
  },
)
