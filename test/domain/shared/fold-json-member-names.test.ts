import { describe, expect, it } from 'vitest'
import { foldedName } from '#domain/shared/fold-json-member-names.ts'

/** All characters with an upper or lower case. */
const CASED = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((char) => char.toLowerCase() !== char || char.toUpperCase() !== char)

describe('a folded name', () => {
  it('is the name itself if that is lower-case ASCII', () => {
    expect(foldedName('max_tokens')).toBe('max_tokens')
    expect(foldedName('')).toBe('')
  })

  it.each([
    ['Model', 'model'],
    ['MAX_TOKENS', 'max_tokens'],
    ['me\u017f\u017fage\u017f', 'messages'],
    ['to\u212Aens', 'tokens'],
    ['notifyHook', 'notifyhook'],
  ])('%s is folded to %s', (name, folded) => expect(foldedName(name)).toBe(folded))

  it('is equal for all characters that a case-insensitive regular expression equates', () => {
    const all = CASED.join('')
    const missed = CASED.filter((char) => {
      const same = all.match(new RegExp(char, 'giu')) ?? []
      return same.some((other) => foldedName(other) !== foldedName(char))
    })
    expect(missed).toEqual([])
  })
})
