import { describe, expect, it } from 'vitest'
import {
  closingBrace,
  closingQuote,
  endOfPlainText,
  wordsOf,
} from '#relay/dialects/scan-json-tokens.ts'

const LENGTH = 16
const isPlain = (byte: number) => byte >= 32 && byte !== 34 && byte !== 92

/** Returns the bytes at an address whose remainder by four is `shift`. */
function alignedBytes(shift: number, text: string): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(shift + text.length), shift)
  bytes.write(text, 'latin1')
  return bytes
}

/** Finds the end of the plain text byte by byte. */
function expectedEnd(bytes: Buffer, shift: number, at: number, count: number): number {
  if ((at + shift) % 4 !== 0) return at
  for (let word = (at + shift) / 4; word < count; word += 1) {
    const start = word * 4 - shift
    const inside = [...bytes.subarray(Math.max(0, start), start + 4)]
    if (!inside.every(isPlain)) return start
  }
  return Math.max(at, count * 4 - shift)
}

describe.each([0, 1, 2, 3])('plain text at an address with the remainder %i', (shift) => {
  it.each(['"', '\\', '\n', '\u0000', '\u001f'])(
    'ends at the word with %j, and never beyond the words to search',
    (stop) => {
      for (let place = 0; place <= LENGTH; place += 1) {
        const text = `${'x'.repeat(place)}${stop}${'\u00ff'.repeat(LENGTH)}`.slice(0, LENGTH)
        const bytes = alignedBytes(shift, text)
        const words = wordsOf(bytes)
        for (let at = 0; at < LENGTH; at += 1) {
          for (let count = 0; count <= words.words.length; count += 1) {
            const end = endOfPlainText(words, at, count)
            expect([place, at, count, end]).toEqual([
              ...[place, at, count],
              expectedEnd(bytes, shift, at, count),
            ])
          }
        }
      }
    },
  )
})

describe('the end of a JSON text or object', () => {
  const texts = ['', 'a', '"', '\\', '\\\\', '\\"', '"\\', 'a\\"b"c\\\\', '{', '}', '\n"}']

  it.each(texts.map((text) => JSON.stringify(text)))(
    'is the quote that no escape precedes: %s',
    (json) => {
      const bytes = Buffer.from(`[1,${json},"next"]`)
      expect(closingQuote(bytes, 3)).toBe(2 + json.length)
    },
  )

  it.each(texts.map((text) => JSON.stringify({ [text]: { inner: text }, list: [{}, text] })))(
    'is the brace of the same depth, outside of texts: %s',
    (json) => {
      const bytes = Buffer.from(`[${json},{}]`)
      expect(closingBrace(bytes, 1)).toBe(json.length)
    },
  )

  it('is missing where the JSON is cut', () => {
    const json = JSON.stringify({ a: { b: '}"' } })
    for (let length = 1; length < json.length; length += 1) {
      expect(closingBrace(Buffer.from(json.slice(0, length)), 0), json.slice(0, length)).toBe(-1)
    }
    expect(closingQuote(Buffer.from('"a\\"'), 0)).toBe(-1)
  })
})
