import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSame } from '#domain/shared/deep-equal.ts'

/** Shallow values make equal pairs frequent. */
const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme-ascii' })

describe('sameness of JSON values', () => {
  it('is that of the platform', () => {
    fc.assert(
      fc.property(value, value, (left, right) => {
        const [one, other] = [left, right].map((each) => JSON.parse(JSON.stringify(each)))
        expect(isSame(one, other)).toBe(isDeepStrictEqual(one, other))
        expect(isSame(one, structuredClone(one))).toBe(true)
      }),
    )
  })

  it('does not mind the order of keys, but that of a list', () => {
    expect(isSame({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true)
    expect(isSame([1, 2], [2, 1])).toBe(false)
  })

  it('tells a missing field from another, a list from an object, null from nothing', () => {
    expect(isSame({ a: 1 }, { b: 1 })).toBe(false)
    expect(isSame({ a: 1 }, { a: 1, b: 1 })).toBe(false)
    expect(isSame({ a: null }, { b: null })).toBe(false)
    expect(isSame({ a: undefined }, { b: 1 })).toBe(false)
    expect(isSame([], {})).toBe(false)
    expect(isSame(null, {})).toBe(false)
    expect(isSame('1', 1)).toBe(false)
  })
})
