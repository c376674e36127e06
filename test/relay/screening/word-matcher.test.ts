import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MATCH_START, MATCHED, WordMatcher } from '#relay/screening/word-matcher.ts'
import { budget } from '#test/support/time-limit.ts'

const isIn = (words: readonly string[], ...pieces: readonly string[]): boolean => {
  const matcher = new WordMatcher(words)
  return pieces.reduce((state, piece) => matcher.feed(state, piece), MATCH_START) === MATCHED
}

describe('words in a text', () => {
  it.each([
    ['at its beginning', ['bomb'], ['bomb here'], true],
    ['at its end', ['bomb'], ['a bomb'], true],
    ['inside of another', ['omb'], ['bomber'], true],
    ['cut in two', ['bomb'], ['a bo', 'mb'], true],
    ['in other case', ['Bomb'], ['A BOMB'], true],
    ['in full width', ['bomb'], ['ｂｏｍｂ'], true],
    ['of Chinese', ['违禁词'], ['这是一个违禁词吗'], true],
    ['of two units', ['🧨🧨'], ['x🧨🧨'], true],
    ['that begins like another', ['hers', 'she'], ['ushers'], true],
    ['behind a false beginning', ['aab'], ['aaab'], true],
    ['not there', ['bomb'], ['bom', 'x', 'b'], false],
    ['with a gap', ['违禁词'], ['违禁的词'], false],
  ] as const)('%s', (_where, words, pieces, expected) => {
    expect(isIn(words, ...pieces)).toBe(expected)
  })

  it('are found exactly where looking for each of them finds one', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '词'), maxLength: 12 })
    const word = fc.string({
      unit: fc.constantFrom('a', 'b', 'c', '词'),
      minLength: 1,
      maxLength: 4,
    })
    const words = fc.array(word, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(words, fc.array(letters, { maxLength: 4 }), (some, pieces) => {
        const text = pieces.join('')
        expect(isIn(some, ...pieces)).toBe(some.some((one) => text.includes(one)))
      }),
      { numRuns: 2_000 },
    )
  })
})

it('a text takes time by its length, whatever the words', () => {
  const words = Array.from({ length: 20_000 }, (_, n) => `${'a'.repeat(8)}${n.toString(36)}z`)
  const matcher = new WordMatcher(words)
  const text = 'a'.repeat(1_000_000)
  matcher.feed(MATCH_START, text.slice(0, 100_000))
  const startedAt = performance.now()
  expect(matcher.feed(MATCH_START, text)).not.toBe(MATCHED)
  // Tried word by word this takes minutes.
  expect(performance.now() - startedAt).toBeLessThan(budget(1_500))
})
