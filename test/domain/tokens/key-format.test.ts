import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { completeKey, KEY_ALPHABET, KEY_RANDOM_CHARACTERS } from '#domain/tokens/key-format.ts'

const randomPart = fc.string({
  unit: fc.constantFrom(...KEY_ALPHABET),
  minLength: KEY_RANDOM_CHARACTERS,
  maxLength: KEY_RANDOM_CHARACTERS,
})

function base62(value: number): string {
  const digits = [...Array(6)].map((_, place) => Math.floor(value / 62 ** (5 - place)) % 62)
  return digits.map((digit) => KEY_ALPHABET[digit]).join('')
}

describe('the key of a token', () => {
  it('ends with the CRC-32 of its random part, as another implementation computes it', () => {
    fc.assert(
      fc.property(randomPart, (random) => {
        const key = completeKey(random)
        expect(key).toBe(random + base62(crc32(random)))
      }),
    )
  })

  it('does not fit its checksum once one character is changed', () => {
    const other = fc.constantFrom(...KEY_ALPHABET)
    fc.assert(
      fc.property(randomPart, fc.nat(47), other, (random, at, character) => {
        const key = completeKey(random)
        fc.pre(key[at] !== character)
        const changed = key.slice(0, at) + character + key.slice(at + 1)
        expect(completeKey(changed.slice(0, KEY_RANDOM_CHARACTERS))).not.toBe(changed)
      }),
    )
  })
})
