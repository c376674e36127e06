import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ExactJson, isNumber, isObject, parseJsonText } from '#domain/shared/lossless-json.ts'

/** Converts to the value that `JSON.parse` returns. */
function plain(value: ExactJson): unknown {
  if (isNumber(value)) return Number(value.numberText)
  if (Array.isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  return Object.fromEntries([...value].map(([key, member]) => [key, plain(member)]))
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('the JSON parser that keeps numbers exact', () => {
  it('returns the same values as JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        const parsed = parseJsonText(text)
        if ('error' in parsed) throw new Error(`${text}: ${parsed.error}`)
        expect(plain(parsed.value)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  it('accepts and refuses the same texts as JSON.parse after one changed character', () => {
    const character = fc.constantFrom(...'{}[]",:\\0123456789eE+-. \ntrufalsn\u0000\u2028')
    const changed = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(), character)
      .map(([text, at, other]) => text.slice(0, at % text.length) + other + text.slice(at + 1))
    fc.assert(
      fc.property(changed, (text) => {
        const parsed = parseJsonText(text)
        // A repeated name is refused at once, even if the rest of the text is invalid.
        if ('error' in parsed && parsed.error === 'duplicate-key') return
        expect('value' in parsed).toBe(isJson(text))
      }),
      { numRuns: 1_000 },
    )
  })

  it('keeps every digit of a number', () => {
    for (const numberText of ['0.10', '1e-3', '12345678901234567890', '1E+2', '-0']) {
      expect(parseJsonText(numberText)).toEqual({ value: { numberText } })
    }
  })

  it('keeps a member that is named __proto__', () => {
    const parsed = parseJsonText('{"__proto__":{"a":1},"constructor":2}')
    if ('error' in parsed || !isObject(parsed.value)) throw new Error('not read')
    expect([...parsed.value.keys()]).toEqual(['__proto__', 'constructor'])
  })
})
