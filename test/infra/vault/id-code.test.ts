import fc from 'fast-check'
import { expect, it } from 'vitest'
import { codeOfId, idOfCode } from '#infra/vault/id-code.ts'
import { createKeyRing } from '#infra/vault/keys-derived-from-secret-key.ts'

const vault = createKeyRing(new Uint8Array(32).fill(7))
const other = createKeyRing(new Uint8Array(32).fill(8))

it('a code gives its id, however it is typed', () => {
  const ids = fc.oneof(fc.integer({ min: 1, max: 9_999 }), fc.nat(2 ** 50 - 1))
  fc.assert(
    fc.property(ids, (id) => {
      const code = codeOfId(vault, id)
      expect(code).toMatch(/^[a-z2-9]{10}$/)
      expect(idOfCode(vault, ` ${code.toUpperCase()} `)).toBe(id)
    }),
  )
})

it('codes of neighbouring ids share no part, and codes of other keys give other ids', () => {
  const codes = Array.from({ length: 2_000 }, (_, id) => codeOfId(vault, id + 1))
  expect(new Set(codes).size).toBe(codes.length)
  // If half of a code were often repeated, neighboring ids could be recognized.
  expect(new Set(codes.map((code) => code.slice(0, 5))).size).toBeGreaterThan(1_980)
  expect(codes.filter((code, at) => idOfCode(other, code) === at + 1)).toEqual([])
})

it.each(['', '12', 'o'.repeat(10), 'abcdefghijk', 'abcdefgh-j'])('%s is not a code', (text) => {
  expect(idOfCode(vault, text)).toBe(null)
})
