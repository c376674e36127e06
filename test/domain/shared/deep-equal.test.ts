import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSame } from '#domain/shared/deep-equal.ts'

/** Shallow values make equal pairs frequent. */
const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme-ascii' })

describe('equality of JSON values', () => {
  it('equals that of node:util', () => {
    fc.assert(
      fc.property(value, value, (left, right) => {
        const [one, other] = [left, right].map((each) => JSON.parse(JSON.stringify(each)))
        expect(isSame(one, other)).toBe(isDeepStrictEqual(one, other))
        expect(isSame(one, structuredClone(one))).toBe(true)
      }),
    )
  })

  it('ignores the order of keys, but not the order of list items', () => {
    expect(isSame({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true)
    expect(isSame([1, 2], [2, 1])).toBe(false)
  })

  it('distinguishes missing from other fields, lists from objects, and null from objects', () => {
    expect(isSame({ a: 1 }, { b: 1 })).toBe(false)
    expect(isSame({ a: 1 }, { a: 1, b: 1 })).toBe(false)
    expect(isSame({ a: null }, { b: null })).toBe(false)
    expect(isSame({ a: undefined }, { b: 1 })).toBe(false)
    expect(isSame([], {})).toBe(false)
    expect(isSame(null, {})).toBe(false)
    expect(isSame('1', 1)).toBe(false)
  })
})
