import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MATCH_START, MATCHED, WordMatcher } from '#relay/screening/word-matcher.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'

const isIn = (words: readonly string[], ...pieces: readonly string[]): boolean => {
  const matcher = new WordMatcher(words)
  return pieces.reduce((state, piece) => matcher.feed(state, piece), MATCH_START) === MATCHED
}

describe('word search in a text', () => {
  it.each([
    ['finds a word at the beginning', ['bomb'], ['bomb here'], true],
    ['finds a word at the end', ['bomb'], ['a bomb'], true],
    ['finds a word inside another', ['omb'], ['bomber'], true],
    ['finds a word that is cut in two', ['bomb'], ['a bo', 'mb'], true],
    ['finds a word in another letter case', ['Bomb'], ['A BOMB'], true],
    ['finds a word in full-width letters', ['bomb'], ['ｂｏｍｂ'], true],
    ['finds a Chinese word', ['违禁词'], ['这是一个违禁词吗'], true],
    ['finds a word of surrogate pairs', ['🧨🧨'], ['x🧨🧨'], true],
    ['finds a word that overlaps another listed word', ['hers', 'she'], ['ushers'], true],
    ['finds a word after a false start', ['aab'], ['aaab'], true],
    ['finds no absent word', ['bomb'], ['bom', 'x', 'b'], false],
    ['finds no word with a gap', ['违禁词'], ['违禁的词'], false],
  ] as const)('%s', (_where, words, pieces, expected) => {
    expect(isIn(words, ...pieces)).toBe(expected)
  })

  it('finds a word exactly where a plain search finds one', () => {
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

it('a word search takes time by the length of the text, not by the number of words', () => {
  const words = Array.from({ length: 20_000 }, (_, n) => `${'a'.repeat(8)}${n.toString(36)}z`)
  const matcher = new WordMatcher(words)
  const text = 'a'.repeat(1_000_000)
  matcher.feed(MATCH_START, text.slice(0, 100_000))
  const startedAt = threadCpuMs()
  expect(matcher.feed(MATCH_START, text)).not.toBe(MATCHED)
  // Tried word by word this takes minutes.
  expect(threadCpuMs() - startedAt).toBeLessThan(budget(1_500))
})
